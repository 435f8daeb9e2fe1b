"""The callbacks of scikit-learn, from 1.9 on: who is set on a selector is told of each turn."""

from typing import TYPE_CHECKING, Any

from swarmrs._watch import OnTurn, Turn

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # Older ones have none.

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks can be set."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Task", "with_callbacks"]


class Task:
    """The task of a fit, as callbacks see it: a subtask for each turn.

    A turn is told when it is done. Its metadata is what `on_turn` of `swarmrs.select` is told. No
    fitted selector goes with it: which subset is best, the engine tells at the end.

    Parameters
    ----------
    selector : BaseEstimator
        Who is being fitted.
    samples : mapping
        Its `X` and `y`.
    most_turns : int, optional
        How many turns there can be.
    """

    def __init__(self, selector: "BaseEstimator", samples: Any, most_turns: int | None) -> None:
        self._told = {"estimator": selector, **samples}
        self._context = None
        if hasattr(selector, "_init_callback_context"):
            self._context = selector._init_callback_context(max_subtasks=most_turns)
            self._context.call_on_fit_task_begin(**self._told)

    def on_turn(self, selector: "BaseEstimator") -> OnTurn | None:
        """Return what is to be told of each turn; None if nobody listens, which costs nothing."""
        context = self._context
        if context is None or not getattr(selector, "_skl_callbacks", None):
            return None

        def tell(turn: Turn) -> bool:
            task = context.subcontext(task_name=f"turn {turn['turn']}")
            told = {**self._told, "metadata": {"turn": turn}}
            task.call_on_fit_task_begin(**told)
            return bool(task.call_on_fit_task_end(**told))

        return tell

    def end(self) -> None:
        """Tell that the fit is done."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._told)
