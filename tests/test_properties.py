"""What holds for every table, mask and setting: how an answer was reached never shows in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from swarmrs import _swarmrs

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

GIB = 1 << 30
# The same examples on every run: a failure seen once is seen again.
examples = settings(deadline=None, derandomize=True, max_examples=200)


@dataclass(frozen=True)
class Table:
    """A made table, and how its subsets are evaluated."""

    x: Floats
    y: NDArray[np.uint32]
    n_classes: int
    scale: str
    evaluation: dict[str, Any]

    @property
    def n_features(self) -> int:
        return int(self.x.shape[1])

    def engine(
        self, *, threads: int = 1, memory: int = GIB, incremental: bool = True
    ) -> _swarmrs.Evaluator:
        names = [f"x{at}" for at in range(self.n_features)]
        x = np.asfortranarray(self.x)
        dataset = _swarmrs.Dataset(x, self.y, self.n_classes, names, self.scale)
        return _swarmrs.Evaluator(
            dataset, json.dumps(self.evaluation), threads, memory, incremental
        )


@st.composite
def foldings(draw: st.DrawFn, n: int) -> dict[str, Any]:
    match draw(st.sampled_from(["loo", "kfold", "holdout", "splits"])):
        case "loo":
            return {"scheme": "loo"}
        case "kfold":
            k, shuffle = draw(st.integers(2, 4)), draw(st.booleans())
            return {"scheme": "kfold", "k": k, "shuffle": shuffle, "seed": 3}
        case "holdout":
            return {"scheme": "holdout", "test": 0.4, "seed": draw(st.integers(0, 9))}
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    splits = []
    for _ in range(draw(st.integers(1, 3))):
        rows = rng.permutation(n)
        splits.append([rows[n // 2 :].tolist(), rows[: n // 3].tolist()])
    return {"scheme": "splits", "splits": splits}


@st.composite
def tables(
    draw: st.DrawFn, least: int = 1, most: int = 14, classifiers: tuple[str, ...] = ("knn", "nb")
) -> Table:
    """Draw a table of few or many levels, so that ties are common in some of them."""
    n, d = draw(st.integers(12, 50)), draw(st.integers(least, most))
    n_classes = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    y = rng.permutation(np.arange(n) % n_classes).astype(np.uint32)
    levels = draw(st.sampled_from([2, 3, 10, 100_000]))
    widths = rng.choice([0.01, 1.0, 300.0], d)
    x = (rng.integers(0, levels, (n, d)) + y[:, None] * rng.random(d)) * widths
    evaluation = {
        "classifier": draw(st.sampled_from(classifiers)),
        "k": draw(st.sampled_from([1, 2, 3, 5])),
        "metric": draw(st.sampled_from(["euclidean", "manhattan"])),
        "weights": draw(st.sampled_from(["uniform", "distance"])),
        "folds": draw(foldings(n)),
    }
    scale = draw(st.sampled_from(["minmax", "standard", "none"]))
    return Table(x, y, n_classes, scale, evaluation)


@st.composite
def batches(draw: st.DrawFn, d: int, most: int = 12) -> Masks:
    """Draw a few masks, each with at least one feature."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    masks = rng.random((draw(st.integers(1, most)), d)) < draw(st.floats(0.05, 0.95))
    masks[np.arange(len(masks)), rng.integers(0, d, len(masks))] = True
    return masks


@st.composite
def walks(draw: st.DrawFn, d: int) -> list[Masks]:
    """Draw batches whose masks differ from earlier ones by a few flips."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    seen = [rng.random(d) < 0.5]
    walk = []
    for size in draw(st.lists(st.integers(1, 4), min_size=2, max_size=8)):
        batch = []
        for _ in range(size):
            mask = seen[rng.integers(len(seen))].copy()
            flipped = rng.choice(d, min(d, int(rng.integers(1, 4))), replace=False)
            mask[flipped] ^= True
            mask[rng.integers(d)] |= not mask.any()
            batch.append(mask)
        seen += batch
        walk.append(np.stack(batch))
    return walk


def assert_same_bits(one: Floats, other: Floats) -> None:
    np.testing.assert_array_equal(one.view(np.uint64), other.view(np.uint64))


@examples
@given(st.data())
def test_a_walk_of_flips_ends_in_the_bits_of_a_fresh_evaluation(data: st.DataObject) -> None:
    table = data.draw(tables(most=40))
    walk = data.draw(walks(table.n_features))
    memory = data.draw(st.sampled_from([0, 1 << 14, GIB]))
    walker = table.engine(memory=memory)
    walked = np.concatenate([walker.measure(batch) for batch in walk])
    fresh = table.engine(incremental=False).measure(np.concatenate(walk))
    assert_same_bits(walked, fresh)
    alone = table.engine(incremental=False).measure(walk[-1][-1:])
    assert_same_bits(walked[-1:], alone)


@examples
@given(st.data())
def test_one_two_and_three_threads_give_the_same_bits(data: st.DataObject) -> None:
    table = data.draw(tables(most=40))
    walk = data.draw(walks(table.n_features))
    incremental = data.draw(st.booleans())
    engines = [table.engine(threads=count, incremental=incremental) for count in (1, 2, 3)]
    found = [np.concatenate([engine.measure(batch) for batch in walk]) for engine in engines]
    assert_same_bits(found[0], found[1])
    assert_same_bits(found[0], found[2])
    assert len({engine.work() for engine in engines}) == 1


@examples
@given(st.data())
def test_the_order_of_features_does_not_matter(data: st.DataObject) -> None:
    table = data.draw(tables(least=2))
    masks = data.draw(batches(table.n_features))
    order = np.array(data.draw(st.permutations(range(table.n_features))))
    turned = replace(table, x=table.x[:, order])
    plain, permuted = table.engine().measure(masks), turned.engine().measure(masks[:, order])
    assert_same_bits(plain, permuted)


@examples
@given(st.data())
def test_a_mask_scores_the_same_wherever_and_however_often_it_stands(data: st.DataObject) -> None:
    table = data.draw(tables())
    masks = data.draw(batches(table.n_features))
    places = st.integers(0, len(masks) - 1)
    order = np.array(data.draw(st.lists(places, min_size=1, max_size=20)))
    once, engine = table.engine().measure(masks), table.engine()
    assert_same_bits(engine.measure(masks[order]), once[order])
    assert_same_bits(engine.measure(masks[order][::-1]), once[order][::-1].copy())


@examples
@given(st.data())
def test_nearly_all_features_are_reached_from_the_complement(data: st.DataObject) -> None:
    table = data.draw(tables(least=20, most=70, classifiers=("knn",)))
    d = table.n_features
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 20)))
    masks = np.ones((data.draw(st.integers(2, 8)), d), np.bool_)
    for mask in masks:
        mask[rng.choice(d, int(rng.integers(0, 4)), replace=False)] = False
    masks = np.unique(masks, axis=0)
    engine = table.engine()
    found = np.concatenate([engine.measure(mask[None, :]) for mask in masks])
    assert_same_bits(found, table.engine(incremental=False).measure(masks))
    done, from_scratch, _ = engine.work()
    n_pairs, rest = divmod(from_scratch, int(masks.sum()))
    assert rest == 0
    # All features once, then only those that are missing.
    assert done <= n_pairs * (d + int((~masks).sum()))


@examples
@given(st.data())
def test_predictions_are_those_behind_the_scores(data: st.DataObject) -> None:
    table = data.draw(tables())
    mask = data.draw(batches(table.n_features, most=1))
    engine = table.engine()
    rows, codes, _ = engine.predict(mask[0])
    assert (np.diff(rows.astype(np.int64)) >= 0).all()
    wrong = np.count_nonzero(table.y[rows] != codes)
    pooled = engine.measure(mask)[0, engine.scores.index("pooled_error")]
    # A quotient of two counts on both sides, one of them possibly taken as 1 - accuracy.
    assert abs(pooled - wrong / len(rows)) < 1e-12
