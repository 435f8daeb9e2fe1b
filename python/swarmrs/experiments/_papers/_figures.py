"""Figures: the quantities that papers print, their units, and when ours agree."""

from dataclasses import dataclass

# Tolerance where the paper prints no deviation: another train/test split alone changes an error by
# so many percentage points.
_POINTS = 3.0
_TENTH = 0.1


@dataclass(frozen=True)
class Figure:
    """A column of a published table.

    Attributes
    ----------
    title : str
        Its name, with its unit.
    digits : int
        The decimals shown.
    more, less : str
        The verdict if ours is the larger or the smaller one.
    tolerance, share : float
        Where no deviation is printed, ours agrees if it differs by no more than the tolerance or
        this share of the printed value.
    is_ratio : bool
        Whether the two are compared by their ratio, and never agree: seconds of two machines.
    is_mark : bool
        Whether it is the outcome of a test: ``+``, ``-`` or ``=``.
    """

    title: str
    digits: int = 2
    more: str = "larger"
    less: str = "smaller"
    tolerance: float = 0.0
    share: float = 0.0
    is_ratio: bool = False
    is_mark: bool = False


def _fact(title: str, tolerance: float = 0.0) -> Figure:
    return Figure(title, 0, tolerance=tolerance)


def _error(title: str) -> Figure:
    return Figure(title, 4, "worse", "better", _POINTS / 100)


def _percent(title: str, tolerance: float = _POINTS) -> Figure:
    return Figure(title, 2, "better", "worse", tolerance)


def _rank(title: str, digits: int) -> Figure:
    return Figure(title, digits, "worse", "better", 1.0)


def _time(title: str) -> Figure:
    return Figure(title, 4, "slower", "faster", is_ratio=True)


def _mark(title: str) -> Figure:
    return Figure(title, is_mark=True)


FIGURES = {
    "features": _fact("features"),
    "rows": _fact("rows"),
    "classes": _fact("classes"),
    # Printed as whole percents.
    "smallest_class": _fact("smallest class %", 1.0),
    "largest_class": _fact("largest class %", 1.0),
    "groups": _fact("groups"),
    "all_error_nb": Figure("J(U), naive Bayes", 4, tolerance=_POINTS / 100),
    "all_error_knn": Figure("J(U), 5-NN", 4, tolerance=_POINTS / 100),
    "error": _error("error"),
    "improvement": _percent("PI %", 10.0),
    "size": Figure("size", 2, tolerance=1.0, share=_TENTH),
    "reduction": Figure("reduction %", 1, tolerance=10.0),
    "best_accuracy": _percent("best accuracy %"),
    "accuracy": _percent("accuracy %"),
    "best_train_accuracy": _percent("best training accuracy %"),
    "train_accuracy": _percent("training accuracy %"),
    "seconds_search": _time("T1, seconds of the search"),
    "seconds_evaluate": _time("T2, seconds of evaluations"),
    "seconds": _time("seconds"),
    "minutes": _time("minutes"),
    "rank": _rank("rank", 0),
    "average_rank": _rank("average rank", 2),
    "vs_all": _mark("test against all features"),
    "vs_bpsofs": _mark("test against BPSOfs"),
    "vs_pbpsofs": _mark("test of PBPSOfs against it"),
    "vs_vlpso": _mark("test against VLPSO"),
    "vs_vlpso_ls": _mark("test against VLPSO-LS"),
}
# Further figures of ours, beside those that the paper computed in a misleading way.
EXTRA = {
    "all_error_nb_correct": Figure("J(U) of all features, naive Bayes", 4),
    "all_error_knn_correct": Figure("J(U) of all features, 5-NN", 4),
    "improvement_correct": Figure("PI % on all features"),
}
# The deviation over runs that belongs to a mean.
DEVIATIONS = {name: f"{name}_sd" for name in ("error", "accuracy", "train_accuracy")}


@dataclass(frozen=True)
class Judged:
    """The comparison of a figure of ours with the printed one.

    Attributes
    ----------
    difference : float or None
        Ours minus the printed one; None for marks, and where either is absent.
    verdict : str
        A word: ``"agrees"``, ``"better"``, ``"worse"``, ``"larger"``, ``"smaller"``, ``"faster"``,
        ``"slower"``, ``"differs"``; empty where there is nothing to compare.
    detail : str
        By how much.
    """

    difference: float | None = None
    verdict: str = ""
    detail: str = ""

    def __str__(self) -> str:
        """Return both in one."""
        return " ".join(filter(None, (self.verdict, self.detail)))


def judge(
    figure: Figure,
    printed: str | None,
    ours: float | str | None,
    deviation: str | None = None,
) -> Judged:
    """Compare a figure of ours with the one that is printed.

    A mean agrees if it lies within one published standard deviation of the published mean. Where
    none is published, it agrees within the tolerance of the figure. A difference below the rounding
    of the printed value does not count. Marks and facts are equal or differ. Times are compared by
    their ratio.

    Examples
    --------
    >>> str(judge(FIGURES["accuracy"], "99.67", 99.2, deviation="0.52"))
    'agrees within 0.90 sd'
    >>> str(judge(FIGURES["error"], "0.0340", 0.0415, deviation="5.0E-03"))
    'worse by 1.50 sd'
    >>> str(judge(FIGURES["accuracy"], "76.54", 81.0))
    'better by 4.46'
    >>> str(judge(FIGURES["seconds"], "108.19", 0.1))
    'faster 1082 times'
    """
    if printed is None or ours is None or ours == "":
        return Judged()
    if figure.is_mark:
        return Judged(verdict="agrees" if ours == printed else "differs")
    published, ours = float(printed), float(ours)
    difference = ours - published
    word = figure.more if difference > 0 else figure.less
    if figure.is_ratio:
        slow, fast = max(ours, published), min(ours, published)
        if fast <= 0:
            return Judged(difference, word)
        ratio = slow / fast
        return Judged(difference, word, f"{ratio:.{0 if ratio >= 10 else 1}f} times")
    gap = abs(difference)
    # Half of the last printed place, and the rounding error of sums in another order.
    rounding = 0.5 * 10.0**-figure.digits + 1e-9
    if deviation is not None and float(deviation) > rounding:
        shown = f"{gap / float(deviation):.2f} sd"
        if gap <= float(deviation) + rounding:
            return Judged(difference, "agrees", f"within {shown}")
        return Judged(difference, word, f"by {shown}")
    # A deviation of rounding error alone allows no other mean.
    room = 0.0 if deviation is not None else max(figure.tolerance, figure.share * abs(published))
    if gap <= room + rounding:
        return Judged(difference, "agrees")
    return Judged(difference, word, f"by {gap:.{figure.digits}f}")
