"""The loss of a score, and the baseline that losses are read against."""

from collections.abc import Mapping
from typing import NamedTuple

from swarmrs._base._public import public

# The scores of a subset, by the names of the engine.
SCORES = (
    "error",
    "pooled_error",
    "accuracy",
    "balanced_accuracy",
    "ovr_accuracy",
    "f1_macro",
    "matthews_corrcoef",
)
# Errors in the unit of the target, or its square: their scores are negated.
ERRORS = {
    "neg_mean_squared_error": "mean squared error",
    "neg_root_mean_squared_error": "root mean squared error",
    "neg_mean_absolute_error": "mean absolute error",
}
_NAMES = {
    **ERRORS,
    "r2": "1 - R2",
    "balanced_accuracy": "1 - balanced accuracy",
    "ovr_accuracy": "1 - one-vs-rest accuracy",
    "f1_macro": "1 - macro F1",
    "matthews_corrcoef": "1 - (MCC + 1) / 2",
}
# Sums of fractions in another order differ in the last bits.
_EQUAL = 1e-12


@public
class Baseline(NamedTuple):
    """The scores of predicting one value for every row, whatever its features: what to beat.

    Attributes
    ----------
    label : str or None
        The value: the majority class, which has the most rows of the table. None for numbers, of
        which the mean of the training rows is predicted.
    loss : float
        Its loss: an error, or what the score named by `scoring` lacks to 1.
    scores : dict of str to float or None
        Its scores, by the folds that measure subsets.
    """

    label: str | None
    loss: float
    scores: dict[str, float | None]

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {"label": self.label, "loss": self.loss, **self.scores}


def loss_of(scores: Mapping[str, float | None], scoring: str | None) -> float:
    """Return the loss of the score that counts: an error, or what the score lacks to 1.

    A measure from outside tells its loss as its error, and no other score.

    Examples
    --------
    >>> loss_of({"error": 0.06, "balanced_accuracy": 0.5, "f1_macro": 0.4}, "balanced_accuracy")
    0.5
    """
    score = None if scoring in (None, "accuracy") else scores.get(scoring)
    if score is None:
        error = scores["error"]
        assert error is not None, "every measure tells its error"
        return error
    # The correlation goes from -1 to 1.
    return loss_from((score + 1.0) / 2.0 if scoring == "matthews_corrcoef" else score, scoring)


def loss_from(score: float, scoring: str | None) -> float:
    """Return the loss of one score: what it lacks to 1, or the error that it negates.

    Examples
    --------
    >>> loss_from(0.75, "r2"), loss_from(-3.0, "neg_mean_absolute_error")
    (0.25, 3.0)
    """
    return -score if scoring in ERRORS else 1.0 - score


def score_from(loss: float, scoring: str | None) -> float:
    """Return the score of a loss; see `loss_from`, which it undoes."""
    return -loss if scoring in ERRORS else 1.0 - loss


def loss_name(scoring: str | None) -> str:
    """Return what the loss is: "error", the name of another error, or a formula of its score.

    Examples
    --------
    >>> loss_name(None), loss_name("balanced_accuracy"), loss_name("roc_auc")
    ('error', '1 - balanced accuracy', '1 - roc_auc')
    """
    if scoring in (None, "accuracy"):
        return "error"
    return _NAMES.get(scoring, f"1 - {scoring}")


def against(loss: float, baseline: float) -> str | None:
    """Say that a loss is no better than that of the baseline; None where it is better.

    Examples
    --------
    >>> against(0.5, 0.5)
    'no better than guessing'
    """
    if loss < baseline - _EQUAL:
        return None
    how = "worse" if loss > baseline + _EQUAL else "no better"
    return f"{how} than guessing"
