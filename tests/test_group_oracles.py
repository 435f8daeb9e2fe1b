"""Groups are those of scipy, scikit-learn and a plain fit by the documented formulas."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import spearmanr
from sklearn.metrics import mutual_info_score, silhouette_score
from swarmrs import group

Floats = NDArray[np.float64]


def levels(x: Floats, q: int = 3) -> NDArray[np.int_]:
    """Cut columns as documented."""
    ranks = [-(-len(x) * k // q) - 1 for k in range(1, q)]
    return np.stack([(column > np.sort(column)[ranks, None]).sum(axis=0) for column in x.T], axis=1)


class TestOracles:
    """Few enough rows that all are looked at."""

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("distance", ["su", "spearman"])
    def test_linkage_and_silhouettes_are_those_of_scipy(self, distance: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        x = rng.random((97, 14)) + np.repeat(rng.random((97, 5)), 3, axis=1)[:, :14]
        y = np.arange(97) % 2
        if distance == "su":
            cut = levels(x)
            # In nats throughout: the unit cancels.
            shared = np.array([[mutual_info_score(a, b) for a in cut.T] for b in cut.T])
            own = np.diag(shared)
            far = 1 - 2 * shared / (own[:, None] + own)
        else:
            far = 1 - np.abs(spearmanr(x).statistic)
        np.fill_diagonal(far, 0.0)
        far = np.maximum((far + far.T) / 2, 0.0)
        tree = linkage(squareform(far, checks=False), method="average")
        found = group(x, y, by=f"hclust,distance={distance}")
        scores = {}
        for point in found.curve.iter_rows(named=True):
            cut_tree = fcluster(tree, point["n_groups"], criterion="maxclust")
            score = silhouette_score(far, cut_tree, metric="precomputed")
            # SU is rounded to 32 bits.
            assert point["value"] == pytest.approx(score, abs=1e-6)
            scores[point["n_groups"]] = score
            same = group(x, y, by=f"hclust={point['n_groups']},distance={distance}").indices
            expected = {tuple(np.flatnonzero(cut_tree == c).tolist()) for c in set(cut_tree)}
            assert set(same) == expected
        assert list(scores) == list(range(2, 14))
        assert len(found) == max(scores, key=lambda number: scores[number])

    def test_the_criterion_is_that_of_a_plain_fit(self) -> None:
        """Of many starts on few kinds of rows the best is the optimum, whoever finds it."""
        rng = np.random.default_rng(6)
        bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]).repeat(12, axis=0)
        flips = rng.random((48, 8)) < 0.05
        x = (np.tile(bits, 4) ^ flips) + 0.1 * rng.random((48, 8))
        curve = group(x, np.arange(48) % 2, by="lbm=2,levels=2,restarts=40").curve
        for point in curve.filter(pl.col("n_row_groups") <= 4).iter_rows(named=True):
            n_row_groups = point["n_row_groups"]
            bound = max(plain_fit(levels(x, 2), n_row_groups, 2, 2, rng) for _ in range(40))
            aic = -2 * bound + 2 * (2 * n_row_groups + n_row_groups + 2 - 2)
            # A fit stops when its bound moves by less than 1e-6 for each of 384 cells.
            assert point["value"] == pytest.approx(aic, abs=0.01)


def plain_fit(y: NDArray[np.int_], n_row_groups: int, n_groups: int, q: int, rng: Any) -> float:
    """Return the bound that EM ends at, by the formulas as the documentation has them."""
    m, p = y.shape
    cells = np.stack([y == k for k in range(q)]).astype(float)

    def start(n: int, groups: int) -> Floats:
        order, place = rng.permutation(n), rng.integers(groups, size=n)
        place[order[:groups]] = np.arange(groups)
        return np.asarray(0.9 * np.eye(groups)[place] + 0.1 / groups)

    def weights(logs: Floats) -> Floats:
        grown = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(grown / grown.sum(axis=1, keepdims=True))

    def estimate() -> tuple[Floats, Floats, Floats, Floats]:
        counts = np.einsum("ir,kij,jc->rck", s, cells, z)
        theta = (counts + 1e-3) / (counts.sum(axis=2, keepdims=True) + q * 1e-3)
        pi, kappa = np.maximum(s.mean(axis=0), 1e-9), np.maximum(z.mean(axis=0), 1e-9)
        return np.log(pi), np.log(kappa), np.log(theta), counts

    z, s = start(p, n_groups), start(m, n_row_groups)
    bounds = [-np.inf]
    for _ in range(200):
        pi, kappa, theta, _ = estimate()
        s = weights(pi + np.einsum("kij,jc,rck->ir", cells, z, theta))
        pi, kappa, theta, _ = estimate()
        z = weights(kappa + np.einsum("kij,ir,rck->jc", cells, s, theta))
        pi, kappa, theta, counts = estimate()
        own = sum(-(w[w > 0] * np.log(w[w > 0])).sum() for w in (s, z))
        bounds.append((counts * theta).sum() + (s * pi).sum() + (z * kappa).sum() + own)
        if abs(bounds[-1] - bounds[-2]) < 1e-6 * m * p:
            break
    return float(bounds[-1])
