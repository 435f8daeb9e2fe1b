"""Evaluator: the scores of subsets one names oneself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from swarmrs import Evaluator, algorithms, read_table
from swarmrs.exceptions import SpecError

Blobs = tuple[NDArray[np.float64], NDArray[np.str_]]


def test_a_field_for_each_score(blobs: Blobs) -> None:
    masks = np.array([[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]], dtype=bool)
    scores = Evaluator(*blobs).measure(masks)
    assert scores.shape == (2,)
    assert scores.dtype.names is not None
    assert scores.dtype.names[0] == "error"
    assert scores["error"][0] < scores["error"][1]
    np.testing.assert_array_equal(scores["accuracy"], 1 - scores["error"])
    assert scores.base is not None


def test_its_predictions_are_behind_its_scores(blobs: Blobs) -> None:
    x, y = blobs
    mask = [False, True, False, False, True, True]
    evaluator = Evaluator(x, y, cv="loo", k=1)
    rows, labels = evaluator.predict(mask)
    assert rows.tolist() == list(range(60))
    assert evaluator.measure(mask)["accuracy"][0] == pytest.approx(accuracy_score(y, labels))


def test_it_agrees_with_scikit_learn_on_groups(blobs: Blobs) -> None:
    x, y = blobs
    groups = np.arange(60) // 6
    splits = list(GroupKFold(5).split(x, y, groups))
    evaluator = Evaluator(x, y, estimator="nb", cv=splits, scale="none")
    ours = evaluator.measure(np.ones(6, dtype=bool))["accuracy"][0]
    assert ours == pytest.approx(cross_val_score(GaussianNB(), x, y, cv=splits).mean())


def test_building_on_what_was_measured_changes_no_score(blobs: Blobs) -> None:
    masks = np.random.default_rng(0).random((40, 6)) < 0.6
    masks[:, 0] = True
    fresh = Evaluator(*blobs, incremental=False)
    other = Evaluator(*blobs, n_jobs=2)
    np.testing.assert_array_equal(fresh.measure(masks), other.measure(masks))
    assert fresh.work.element_ops == fresh.work.from_scratch_ops > 0
    assert other.work.element_ops <= other.work.from_scratch_ops


def test_a_table_can_be_measured(blobs_csv: Path) -> None:
    table = read_table(blobs_csv)
    assert Evaluator(table).table is table


@pytest.mark.parametrize("masks", [[True] * 5, [[True] * 7], [[[True] * 6]]])
def test_masks_of_another_width_are_refused(blobs: Blobs, masks: Any) -> None:
    with pytest.raises(SpecError, match="expected 6 features in the last dimension"):
        Evaluator(*blobs).measure(masks)


@pytest.mark.parametrize("setting", [{"memory": -1}, {"cv_seed": -1}, {"k": True}, {"cv": 0}])
def test_settings_out_of_range_are_refused_by_name(blobs: Blobs, setting: dict[str, Any]) -> None:
    (name,) = setting
    with pytest.raises(SpecError, match=f"^{name} is .*, expected a whole number"):
        Evaluator(*blobs, **setting)


def test_without_an_algorithm_it_measures_as_most_papers_do(blobs: Blobs) -> None:
    ours = Evaluator(*blobs).evaluation.to_dict()
    theirs = next(card.evaluated_by for card in algorithms() if card.id == "bpso")
    assert {name: ours[name] for name in theirs} == theirs
