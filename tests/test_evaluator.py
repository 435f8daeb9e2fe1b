"""Evaluator: the scores of given subsets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from swarmrs import Evaluator, read_table, select
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
    evaluator = Evaluator(x, y, estimator=KNeighborsClassifier(1), cv="loo")
    rows, labels = evaluator.predict(mask)
    assert rows.tolist() == list(range(60))
    assert evaluator.measure(mask)["accuracy"][0] == pytest.approx(accuracy_score(y, labels))


def test_it_agrees_with_scikit_learn_on_groups(blobs: Blobs) -> None:
    x, y = blobs
    groups = np.arange(60) // 6
    splits = list(GroupKFold(5).split(x, y, groups))
    scaled = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    for estimator in (GaussianNB(), KNeighborsClassifier(7, weights="distance"), scaled):
        evaluator = Evaluator(x, y, estimator=estimator, cv=splits)
        ours = evaluator.measure(np.ones(6, dtype=bool))["accuracy"][0]
        assert ours == pytest.approx(cross_val_score(estimator, x, y, cv=splits).mean())


def test_incremental_evaluation_changes_no_score(blobs: Blobs) -> None:
    masks = np.random.default_rng(0).random((40, 6)) < 0.6
    masks[:, 0] = True
    fresh = Evaluator(*blobs, incremental=False)
    other = Evaluator(*blobs, n_jobs=2)
    np.testing.assert_array_equal(fresh.measure(masks), other.measure(masks))
    assert fresh.work.element_ops == fresh.work.from_scratch_ops > 0
    assert other.work.element_ops <= other.work.from_scratch_ops


def test_a_table_is_evaluated_as_it_is(blobs_csv: Path) -> None:
    table = read_table(blobs_csv)
    assert Evaluator(table).table is table


@pytest.mark.parametrize("masks", [[True] * 5, [[True] * 7], [[[True] * 6]]])
def test_masks_of_another_width_are_refused(blobs: Blobs, masks: Any) -> None:
    with pytest.raises(SpecError, match="expected 6 features in the last dimension"):
        Evaluator(*blobs).measure(masks)


@pytest.mark.parametrize("setting", [{"memory": -1}, {"cv_seed": -1}, {"cv": 0}])
def test_settings_out_of_range_are_refused_by_name(blobs: Blobs, setting: dict[str, Any]) -> None:
    (name,) = setting
    with pytest.raises(SpecError, match=f"^{name} is .*, expected a whole number"):
        Evaluator(*blobs, **setting)


def test_its_defaults_are_those_of_select(blobs: Blobs) -> None:
    found = select(blobs, algo="sfs", max_features=1)
    assert Evaluator(*blobs).evaluation.to_dict() == found.evaluation


def test_an_estimator_that_the_engine_does_not_have_is_refused(blobs: Blobs) -> None:
    with pytest.raises(SpecError, match=r"DecisionTreeClassifier.*does not have") as error:
        Evaluator(*blobs, estimator=DecisionTreeClassifier())
    assert error.value.hint is not None
    assert "cross_val_score" in error.value.hint
