"""Random-subspace support of features, with permuted copies of them as the level of noise."""

import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmrs import _swarmrs
from swarmrs.data._table import Table
from swarmrs.evaluation._native import Classifier, Evaluation


class Support(NamedTuple):
    """The support of features by random subsets.

    Attributes
    ----------
    order : ndarray of intp
        The places of the features, the best first.
    scores, standard_errors : ndarray of float64
        How much the mean score of the subsets with a feature is above that of all subsets, in the
        last stage that the feature was in, and the standard error of it. NaN for a feature whose F
        statistic is too low for the first stage.
    is_noise : ndarray of bool
        Whether a permuted copy of some feature has a better place.
    """

    order: NDArray[np.intp]
    scores: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    is_noise: NDArray[np.bool_]


def support(table: Table, features: list[int], seed: int, threads: int) -> Support:
    """Rank some features of a table by random subsets; no others are considered.

    Each feature competes with its shadow, a copy with the rows in random order: what comes behind
    the best shadow is no better than noise. Subsets are scored by 5-NN and 10-fold
    cross-validation, by leave-one-out and as many neighbors as there are on fewer than 10 rows.
    """
    n_rows = len(table.codes)
    classifier = Classifier.of("knn", n_neighbors=min(5, max(1, n_rows - 1)))
    assert classifier is not None, "k-NN is native"
    cv = 10 if n_rows >= 10 else "loo"
    evaluation = Evaluation.of(table, classifier, cv=cv, cv_seed=None, scale=None)
    real = table.x[:, features]
    shadows = np.random.default_rng(seed).permuted(real, axis=0)
    n = len(features)
    names = [str(place) for place in range(2 * n)]
    dataset = _swarmrs.Dataset(
        np.asfortranarray(np.hstack([real, shadows])),
        table.codes,
        len(table.labels),
        names,
        evaluation.scale.removeprefix("fold-"),
    )
    spec = {
        "algorithm": "rks",
        "evaluation": evaluation.spec(),
        "objective": {"kind": "error"},
        "memory": 2**30,
        "seed": seed,
    }
    text, _ = _swarmrs.run(dataset, json.dumps(spec), threads=threads)
    scores, errors = np.full(2 * n, np.nan), np.full(2 * n, np.nan)
    ranked = []
    for entry in json.loads(text)["ranking"]:
        place = entry["feature"]
        ranked.append(place)
        scores[place] = entry["support"]
        errors[place] = np.nan if entry["standard_error"] is None else entry["standard_error"]
    # Features below the first stage follow in its order.
    relevance = dataset.f_scores(list(range(2 * n)), threads)
    rest = np.setdiff1d(np.arange(2 * n), ranked)
    rest = rest[np.argsort(-relevance[rest], kind="stable")]
    order = np.concatenate([np.array(ranked, dtype=np.intp), rest])
    is_noise = np.ones(n, dtype=bool)
    is_noise[order[: np.argmax(order >= n)]] = False
    return Support(order[order < n], scores[:n], errors[:n], is_noise)
