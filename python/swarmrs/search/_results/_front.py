"""The front of a search: what fewer features cost, and which of its subsets is wanted."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, overload

import polars as pl

from swarmrs._base._choices import PICKS
from swarmrs._base._hints import setting
from swarmrs._base._messages import counted, listed, printable, shortened
from swarmrs._base._public import public
from swarmrs.evaluation._losses import loss_of
from swarmrs.exceptions import SpecError

# A point names so many features, the rest by their number.
_NAMED = 5


@public
class FrontPoint(NamedTuple):
    """A subset that no other tried one beats in both loss and size.

    `cost`, `scores`, `selected`, `selected_indices` and `loss` are as in `Selection`; `error` is
    the share of rows misclassified, whatever the scoring.
    """

    size: int
    error: float
    cost: float
    scores: dict[str, float | None]
    selected: tuple[str, ...]
    selected_indices: tuple[int, ...]
    loss: float

    def __repr__(self) -> str:
        """Return it in one line; long lists of features are cut."""
        features = listed((shortened(printable(name)) for name in self.selected), _NAMED)
        found = f"{counted(self.size, 'feature')}, loss {self.loss:.4f}, cost {self.cost:.4f}"
        return f"FrontPoint({found}: {features})"

    def to_dict(self) -> dict[str, object]:
        """Return the point as plain values, ready for JSON."""
        return {
            "size": self.size,
            "cost": self.cost,
            "loss": self.loss,
            **self.scores,
            "selected": list(self.selected),
            "selected_indices": list(self.selected_indices),
        }


@public
@dataclass(frozen=True)
class Front(Sequence[FrontPoint]):
    """The subsets that no other tried one beats in both loss and size: a sequence of points.

    The loss is the error, or what the score named by `scoring` lacks to 1.

    Attributes
    ----------
    points : tuple of FrontPoint
        From the smallest subset to the least loss.
    knee : FrontPoint or None
        Where the front bends most: the point farthest below the line that joins its ends, both
        axes being stretched to the range of the front; the smaller of equals. A front that nowhere
        lies below that line has its knee at the smaller end. None without points.
    hypervolume : float
        The area below loss 1 and all features that the front beats, the size being counted as a
        share of all features: the larger, the better. 1 is out of reach, because no subset is
        empty.
    """

    points: tuple[FrontPoint, ...]
    knee: FrontPoint | None
    hypervolume: float

    @overload
    def __getitem__(self, at: int) -> FrontPoint: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[FrontPoint, ...]: ...
    def __getitem__(self, at: int | slice) -> FrontPoint | tuple[FrontPoint, ...]:
        """Return one point or several."""
        return self.points[at]

    def __repr__(self) -> str:
        """Return its extent in one line; `to_frame` has the points."""
        ends = f", {self[0].size} to {counted(self[-1].size, 'feature')}" if self.points else ""
        subsets = counted(len(self), "non-dominated subset")
        return f"Front({subsets}{ends}, hypervolume {self.hypervolume:.4f})"

    def __len__(self) -> int:
        """Return how many points there are."""
        return len(self.points)

    def __iter__(self) -> Iterator[FrontPoint]:
        """Go through the points."""
        return iter(self.points)

    def at_most(self, size: int) -> FrontPoint | None:
        """Return the point of least loss with at most so many features; None if there is none."""
        return next((point for point in reversed(self.points) if point.size <= size), None)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each point: size, error, loss, cost, whether it is the knee, names."""
        columns = {
            "size": pl.Series([point.size for point in self], dtype=pl.Int64),
            "error": pl.Series([point.error for point in self], dtype=pl.Float64),
            "loss": pl.Series([point.loss for point in self], dtype=pl.Float64),
            "cost": pl.Series([point.cost for point in self], dtype=pl.Float64),
            "is_knee": pl.Series([point == self.knee for point in self], dtype=pl.Boolean),
            "selected": pl.Series(
                [list(point.selected) for point in self], dtype=pl.List(pl.String)
            ),
        }
        return pl.DataFrame(columns)

    def to_dict(self) -> dict[str, object]:
        """Return the front as plain values, ready for JSON; the knee is the index of its point."""
        points = [point.to_dict() for point in self]
        knee = None if self.knee is None else self.points.index(self.knee)
        return {"hypervolume": self.hypervolume, "knee": knee, "points": points}


@public
class Parsimony(NamedTuple):
    """What was given up for a smaller subset.

    `best_size`, `best_error` and `best_loss` are those of the best subset, `standard_error` is that
    of its loss: `rule` takes the smallest subset whose loss exceeds the best one's by that at the
    most. Without `scoring` the loss is the error.
    """

    rule: str
    best_size: int
    best_error: float
    best_loss: float
    standard_error: float


@dataclass(frozen=True)
class Pick:
    """Which subset of a run is wanted.

    Attributes
    ----------
    rule : str
        As it was given: ``"best"``, ``"knee"``, ``"1se"`` or ``"size<=K"``.
    most : int or None
        K.
    """

    rule: str
    most: int | None = None

    @classmethod
    def read(cls, rule: object, n_included: int) -> Self:
        """Return the pick that a rule stands for.

        Raises
        ------
        SpecError
            If there is no such rule, or more features are always in than it allows.
        """
        if rule in ("best", "knee", "1se"):
            return cls(str(rule))
        match = re.fullmatch(r"size ?<= ?([1-9]\d*)", rule) if isinstance(rule, str) else None
        if match is None:
            raise SpecError(
                f"pick is {rule!r}, expected {', '.join(PICKS)}", "K is a number from 1 up"
            )
        most = int(match[1])
        if most < n_included:
            raise SpecError(
                f"pick is size<={most}, but {counted(n_included, 'feature')} are always in",
                "include fewer, or allow more",
            )
        return cls(f"size<={most}", most)

    def of(
        self, found: Mapping[str, Any], standard_error: Callable[[Sequence[int]], float]
    ) -> tuple[Mapping[str, Any], Parsimony | None]:
        """Return the wanted one of what the engine found: its answer or a point of its front.

        Raises
        ------
        SpecError
            If no subset is small enough.
        """
        points: Sequence[Mapping[str, Any]] = found["front"]["points"]
        knee: int = found["front"]["knee"]
        if self.rule == "best":
            return found, None
        if self.rule == "1se":
            scoring, spread = found.get("scoring"), standard_error(found["selected"])
            error, loss = found["scores"]["error"], loss_of(found["scores"], scoring)
            near = (
                it for it in (*points, found) if loss_of(it["scores"], scoring) <= loss + spread
            )
            given_up = Parsimony(self.rule, found["size"], error, loss, spread)
            return min(near, key=lambda it: it["size"]), given_up
        if self.most is None:
            return points[knee], None
        small = [point for point in points if point["size"] <= self.most]
        if not small:
            raise SpecError(
                f"pick is {self.rule}, but the smallest subset tried has {points[0]['size']}",
                f"limit the search with {setting('max_features', self.most)}, or take an algorithm "
                "that seeks the front, which tries small subsets by itself",
            )
        return small[-1], None
