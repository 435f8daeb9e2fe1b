"""Symmetric uncertainty of each column with the class, after Fayyad and Irani's cuts."""

from __future__ import annotations

import numpy as np
from baselines import Codes, Floats

Counts = Codes


def ranking(x: Floats, y: Codes) -> Codes:
    """Return the columns by what they tell about the class, most first; of equals the first."""
    scores = [symmetric_uncertainty(levels(column, y), y) for column in x.T]
    return np.argsort(-np.array(scores, np.float32), kind="stable")


def symmetric_uncertainty(a: Codes, b: Codes) -> float:
    """Return what two codes share, as a share of their mean entropy."""
    table = np.zeros((a.max() + 1, b.max() + 1), np.int64)
    np.add.at(table, (a, b), 1)
    single = _entropy(table.sum(axis=1)) + _entropy(table.sum(axis=0))
    share = 2.0 * (single - _entropy(table.ravel())) / single if single > 0.0 else 0.0
    return float(share) if share >= 1e-12 else 0.0


def levels(column: Floats, y: Codes) -> Codes:
    """Return the level of each row: the cuts of least class entropy that pay for themselves."""
    values, code = np.unique(column, return_inverse=True)
    counts = np.zeros((len(values), y.max() + 1), np.int64)
    np.add.at(counts, (code, y), 1)
    cuts: list[int] = []
    segments = [(0, len(values))]
    while segments:
        first, last = segments.pop()
        cut = _best_cut(counts[first:last])
        if cut is not None:
            cuts.append(first + cut)
            segments += [(first, first + cut), (first + cut, last)]
    return np.searchsorted(np.sort(cuts), code, side="right").astype(np.int64)


def _best_cut(counts: Counts) -> int | None:
    """Return before which of the distinct values to cut; None where no cut pays."""
    places = len(counts) - 1
    if places < 1:
        return None
    left = counts.cumsum(axis=0)[:-1]
    whole = counts.sum(axis=0)
    right, n = whole - left, whole.sum()
    h_left, h_right = _entropy(left), _entropy(right)
    expected = (left.sum(axis=1) * h_left + right.sum(axis=1) * h_right) / n
    # Sums of logarithms are noisy: equal divisions must compare equal, so that the first is taken.
    at = int(expected.round(12).argmin())
    h, gain = _entropy(whole), _entropy(whole) - expected[at]
    k, k_left, k_right = (np.count_nonzero(part) for part in (whole, left[at], right[at]))
    delta = np.log2(3.0**k - 2.0) - (k * h - k_left * h_left[at] - k_right * h_right[at])
    return at + 1 if gain > max(1e-12, (np.log2(places) + delta) / n) else None


def _entropy(counts: Counts) -> Floats:
    """Return the entropy in bits of counts along the last axis."""
    total = counts.sum(axis=-1)
    logs = (counts * np.log2(np.maximum(counts, 1))).sum(axis=-1)
    entropy: Floats = np.log2(total) - logs / total
    return entropy
