"""Compare what methods select on rows that no method has seen.

Outer stratified folds, several deals of them, the same for all methods. Scaling, ranking, search
and the choice of size see the training rows alone. The features found are judged on the held-out
fold by three classifiers: 1-NN and 5-NN on min-max scaled features and a linear SVM on standardized
ones. The value of a method on a table is the mean balanced accuracy over folds and deals.

The tables are in two halves. The first has shaped the methods; what counts is the second.

Run by `make answer`; `ARGS="--deals 1 --tables srbct --methods auto,cfs"` for a part. With --votes
the champions of searches are compared with the votes of their best subsets instead. Finished
folds are kept in the file of --store, so that a second call only adds what is missing; --shard 1/2
and --shard 2/2 share the work between two processes. `ARGS=--print-only` prints what is there.
`ARGS=--noise` lets `auto` select on tables of noise instead.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from runs import Store
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from swarmrs import rank, select
from swarmrs.exceptions import SwarmrsWarning
from swarmrs.experiments._analysis._statistics import friedman, holm, signed_rank
from tables import ROOT, deal, path_of, table, why_absent

# The first half shaped the methods, the second did not.
DESIGN = "srbct,dlbcl,9tumor,brain_tumor1,sonar,lsvt"
REPORT = (
    "leukemia1,leukemia2,brain_tumor2,prostate,11tumor,lung_cancer_1543,ionosphere,musk1,arrhythmia"
)
METHODS = "auto,rks-20,rks-50,rks-100,cem,vlpso-ls,cfs,fcbf,mrmr-50,mrmr-200,rfe-svm-50,l1,all"
# Searches whose champion is compared with the vote of their best subsets, by --votes.
VOTERS = "cso,upso2d,bpso"
REFERENCE = "auto"
# `vlpso-ls` searches with the evaluation and fitness of its paper, the others by 5-NN, 10-fold.
PAPER: dict[str, Any] = {
    "estimator": KNeighborsClassifier(1, metric="manhattan"),
    "scale": "minmax",
    "cv": "loo",
    "objective": "paper",
}
N_FOLDS = 10
N_NOISE = 20


@dataclass(frozen=True)
class Key:
    """All that a run on one fold depends on."""

    data: str
    method: str
    deal: int
    fold: int


@dataclass(frozen=True)
class Found:
    """Its result: held-out balanced accuracies, the method's own estimate, size, CPU seconds.

    `hits` are the rows of each class that 5-NN predicts correctly, and all of them.
    """

    nn1: float
    nn5: float
    svm: float
    own: float | None
    size: int
    seconds: float
    hits: list[list[int]] | None = None


Samples = tuple[NDArray[np.float64], NDArray[np.int64]]


def _parts(key: Key) -> tuple[Samples, Samples]:
    """Return the training and the test rows; gaps are filled by the medians of the former."""
    x, y = table(key.data)
    folds = deal(y, key.deal, N_FOLDS)
    train, test = folds != key.fold, folds == key.fold
    if np.isnan(x).any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            medians = np.nan_to_num(np.nanmedian(x[train], axis=0))
        x = np.where(np.isnan(x), medians, x)
    return (x[train], y[train]), (x[test], y[test])


@lru_cache(maxsize=2)
def _ranking(by: str, data: str, deal_: int, fold: int) -> tuple[NDArray[np.int64], float]:
    """Return the features of a fold in the order of a ranking, and the seconds it took."""
    (x, y), _ = _parts(Key(data, by, deal_, fold))
    start = time.process_time()
    if by == "rks":
        found = select(
            (x, y), algo="rks", scoring="balanced_accuracy", random_state=deal_, n_jobs=1
        )
        assert found.ranking is not None
        order = found.ranking["index"].to_numpy()
    else:
        order = rank((x, y), by=by).frame["index"].to_numpy()
    return order, time.process_time() - start


def _chosen(key: Key) -> tuple[list[int], float | None, float | None]:
    """Return the features a method selects, its own estimate, and the seconds of a ranking."""
    (x, y), _ = _parts(key)
    method, _, variant = key.method.partition("/")
    by, _, size = method.rpartition("-")
    if by in ("rks", "mrmr", "f", "relieff", "su"):
        order, seconds = _ranking(by, key.data, key.deal, key.fold)
        return order[: int(size)].tolist(), None, seconds
    if method == "all":
        return list(range(x.shape[1])), None, None
    if by == "rfe-svm":
        scaled = StandardScaler().fit_transform(x)
        most = min(int(size), x.shape[1])
        rfe = RFE(SVC(kernel="linear"), n_features_to_select=most, step=0.2).fit(scaled, y)
        return np.flatnonzero(rfe.support_).tolist(), None, None
    if method == "l1":
        scaled = StandardScaler().fit_transform(x)
        model = LogisticRegression(penalty="l1", l1_ratio=1.0, solver="liblinear", C=1.0)
        fitted = OneVsRestClassifier(model).fit(scaled, y)
        weights = np.vstack([each.coef_ for each in fitted.estimators_])
        return np.flatnonzero(np.abs(weights).sum(axis=0)).tolist(), None, None
    evaluation = PAPER if method == "vlpso-ls" else {"scoring": "balanced_accuracy"}
    found = select(
        (x, y),
        algo=method,
        random_state=key.deal,
        n_jobs=1,
        answer=variant or "best",
        **evaluation,
    )
    own = found.score if found.competition is None else found.competition.score
    return list(found.selected_indices), own, None


def _run(key: Key) -> Found:
    (x, y), (x_test, y_test) = _parts(key)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwarmrsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        features, own, seconds = _chosen(key)
    if seconds is None:
        seconds = time.process_time() - start

    def said(model: Any) -> NDArray[np.int64]:
        predicted: NDArray[np.int64] = model.fit(x[:, features], y).predict(x_test[:, features])
        return predicted

    nn1, nn5, svm = (
        said(make_pipeline(MinMaxScaler(), KNeighborsClassifier(1))),
        said(make_pipeline(MinMaxScaler(), KNeighborsClassifier(5))),
        said(make_pipeline(StandardScaler(), SVC(kernel="linear"))),
    )
    of_class = [y_test == code for code in np.unique(y)]
    return Found(
        nn1=float(balanced_accuracy_score(y_test, nn1)),
        nn5=float(balanced_accuracy_score(y_test, nn5)),
        svm=float(balanced_accuracy_score(y_test, svm)),
        own=own,
        size=len(features),
        seconds=seconds,
        hits=[[int((nn5 == y_test)[it].sum()), int(it.sum())] for it in of_class],
    )


Runs = dict[Key, Found]


def _wanted(args: argparse.Namespace, names: list[str]) -> list[Key]:
    """Return the runs, deal by deal and fold by fold, all methods of a fold together."""
    keys = [
        Key(data, method, deal_, fold)
        for deal_ in range(1, args.deals + 1)
        for fold in range(N_FOLDS)
        for data in names
        for method in args.methods
    ]
    part, of = map(int, args.shard.split("/"))
    groups = len(args.methods)
    return [key for at, key in enumerate(keys) if at // groups % of == part - 1]


def _common(names: list[str], methods: list[str], runs: Runs) -> dict[str, list[tuple[int, int]]]:
    """Return the deals and folds of each table that all methods have finished."""
    done: dict[str, list[tuple[int, int]]] = {}
    for data in names:
        cells = [
            {(key.deal, key.fold) for key in runs if (key.data, key.method) == (data, method)}
            for method in methods
        ]
        if cells and (both := sorted(set.intersection(*cells))):
            done[data] = both
    return done


def _mean(data: str, method: str, cells: list[tuple[int, int]], runs: Runs, what: str) -> float:
    return float(
        np.mean([getattr(runs[Key(data, method, deal_, fold)], what) for deal_, fold in cells])
    )


def _accuracy(data: str, method: str, cells: list[tuple[int, int]], runs: Runs) -> float:
    """Return the mean over the three classifiers, in percent."""
    judges = ("nn1", "nn5", "svm")
    return 100 * float(np.mean([_mean(data, method, cells, runs, judge) for judge in judges]))


def _optimism(method: str, done: dict[str, list[tuple[int, int]]], runs: Runs) -> str:
    """Return by how many points a method's own estimate exceeds the held-out score of 5-NN.

    The score is the balanced accuracy of all folds of a deal together. The mean over folds is
    another measure: a class of four rows is missing in most folds, and counts in few of them.
    """
    gaps = []
    for data, cells in done.items():
        found = [runs[Key(data, method, *cell)] for cell in cells]
        if any(each.own is None or each.hits is None for each in found):
            return ""
        for deal_ in sorted({deal_ for deal_, _ in cells}):
            here = [it for it, cell in zip(found, cells, strict=True) if cell[0] == deal_]
            right, total = np.sum([np.array(it.hits) for it in here], axis=0).T
            own = np.mean([it.own for it in here if it.own is not None])
            gaps.append(float(own - np.mean(right[total > 0] / total[total > 0])))
    return f"{100 * np.mean(gaps):+.1f}"


def _summary(names: list[str], methods: list[str], runs: Runs) -> Iterator[str]:
    """Yield the comparison over some tables: means, ranks, paired tests."""
    done = _common(names, methods, runs)
    if len(done) < 2:
        yield "Fewer than two tables are finished by all of these methods."
        return
    tables = list(done)
    scores = np.array(
        [[_accuracy(data, method, done[data], runs) for method in methods] for data in tables]
    )
    folds = ", ".join(f"{data} {len(done[data])}" for data in tables)
    yield f"{len(tables)} tables (folds: {folds})"
    yield ""
    tested = friedman(-scores)
    ranks = tested.average_ranks if tested is not None else np.full(len(methods), np.nan)
    reference = methods.index(REFERENCE) if REFERENCE in methods else 0
    others = [at for at in range(len(methods)) if at != reference]
    p_values = [signed_rank(scores[:, reference], scores[:, at]).p for at in others]
    corrected = dict(zip(others, holm(p_values).tolist(), strict=True)) if others else {}
    yield (
        "| method | mean | 1-NN | 5-NN | SVM | features | CPU s | rank | "
        f"{methods[reference]} less it | wins / ties / losses | p (Holm) | own less held-out |"
    )
    yield f"|---|{'--:|' * 11}"
    for at in np.argsort(ranks, kind="stable"):
        method = methods[at]

        def mean(what: str, method: str = method) -> float:
            return float(np.mean([_mean(it, method, done[it], runs, what) for it in tables]))

        gaps = scores[:, reference] - scores[:, at]
        signs = " / ".join(str(int(np.sum(np.sign(gaps.round(9)) == s))) for s in (1, 0, -1))
        paired = ["", "", ""]
        if at != reference:
            paired = [f"{gaps.mean():+.2f}", signs, f"{corrected[at]:.4f}"]
        cells = [
            method,
            f"{scores[:, at].mean():.2f}",
            *(f"{100 * mean(judge):.2f}" for judge in ("nn1", "nn5", "svm")),
            f"{mean('size'):.0f}",
            f"{mean('seconds'):.1f}",
            f"{ranks[at]:.2f}",
            *paired,
            _optimism(method, done, runs),
        ]
        yield "| " + " | ".join(cells) + " |"
    if tested is not None:
        yield ""
        yield (
            f"Friedman test p = {tested.chi_square.p:.2g}; average ranks that differ by more than "
            f"{tested.critical_difference:.2f} differ significantly (Nemenyi)."
        )


def _votes(names: list[str], voters: list[str], runs: Runs) -> Iterator[str]:
    """Yield the comparison of champions with votes, each search on the folds it has finished."""
    yield "| search | tables | folds | champion | vote | features | vote less champion | wins | p |"
    yield f"|---|{'--:|' * 8}"
    for voter in voters:
        pair = [voter, f"{voter}/vote"]
        done = _common(names, pair, runs)
        if not done:
            continue
        champion, vote = (
            np.array([_accuracy(data, method, done[data], runs) for data in done])
            for method in pair
        )
        sizes = [np.mean([_mean(it, by, done[it], runs, "size") for it in done]) for by in pair]
        yield (
            f"| {voter} | {len(done)} | {sum(map(len, done.values()))} | {champion.mean():.2f} | "
            f"{vote.mean():.2f} | {sizes[0]:.0f}, {sizes[1]:.0f} | "
            f"{(vote - champion).mean():+.2f} | {np.sum(vote > champion)} of {len(done)} | "
            f"{signed_rank(vote, champion).p:.4f} |"
        )


def _noise() -> None:
    """Print what `auto` says of tables without a relevant feature."""
    covered = 0
    print("| seed | score | interval | covers 0.5 | features |")
    print("|--:|--:|---|---|--:|")
    for seed in range(1, N_NOISE + 1):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(100, 2000)), np.arange(100) % 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SwarmrsWarning)
            found = select((x, y), algo="auto", random_state=seed, n_jobs=-1)
        assert found.competition is not None
        (low, high), score = found.competition.interval, found.competition.score
        covered += low <= 0.5 <= high
        is_covered = "yes" if low <= 0.5 <= high else "no"
        print(
            f"| {seed} | {score:.3f} | {low:.3f} to {high:.3f} | {is_covered} | {found.size} |",
            flush=True,
        )
    print(f"\n{covered} of {N_NOISE} intervals cover 0.5.")


def _words(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description="Compare selections on unseen rows.")
    parser.add_argument("--deals", type=int, default=5, help="divisions into outer folds")
    parser.add_argument("--tables", type=_words, default=_words(f"{DESIGN},{REPORT}"))
    parser.add_argument("--methods", type=_words, default=_words(METHODS), help="with commas")
    parser.add_argument("--shard", default="1/1", help="the part of the work done here")
    parser.add_argument("--store", type=Path, default=ROOT / "benches" / "results" / "answer.jsonl")
    parser.add_argument("--print-only", action="store_true", help="print what is finished")
    parser.add_argument("--votes", action="store_true", help="compare champions with votes")
    parser.add_argument("--noise", action="store_true", help="select on tables of noise")
    args = parser.parse_args()
    if args.noise:
        _noise()
        return
    if args.votes:
        args.methods = [f"{voter}{kind}" for voter in _words(VOTERS) for kind in ("", "/vote")]
    store = Store(args.store, Key, Found)
    names = args.tables
    if args.print_only:
        runs = store.read()
    else:
        names = [name for name in args.tables if path_of(name).exists()]
        for name in sorted({*args.tables} - {*names}):
            print(f"skipped: {why_absent(name)}", file=sys.stderr)
        runs = store.complete(_wanted(args, names), _run)
    if args.votes:
        print("\n".join(_votes(names, _words(VOTERS), runs)))
        return
    for title, half in (("Design half", DESIGN), ("Report half", REPORT)):
        chosen = [name for name in names if name in half.split(",")]
        methods = [m for m in args.methods if any(key.method == m for key in runs)]
        if chosen:
            print(f"### {title}\n")
            print("\n".join(_summary(chosen, methods, runs)))
            print()


if __name__ == "__main__":
    main()
