"""The callbacks of scikit-learn, from 1.9 on: those of a selector hear of each iteration."""

from typing import TYPE_CHECKING, Any

from swarmrs.search._results._progress import Callback, Iteration

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
    """The task of a fit, as callbacks see it: a subtask for each iteration.

    An iteration is reported when it is done. Its metadata is what `callback` of
    `swarmrs.select` gets. No fitted selector goes with it: the best subset is known at the end.

    Parameters
    ----------
    selector : BaseEstimator
        Who is being fitted.
    X, y : array-like or frame, array-like
        What on.
    max_iter : int, optional
        How many iterations there can be.

    Attributes
    ----------
    callback : callable or None
        What to pass on with each iteration; None if nobody listens, which then costs nothing.
    """

    def __init__(
        self, selector: "BaseEstimator", X: object, y: object, max_iter: int | None
    ) -> None:
        self._event = {"estimator": selector, "X": X, "y": y}
        self._context: Any = None
        if hasattr(selector, "_init_callback_context"):
            self._context = selector._init_callback_context(max_subtasks=max_iter)
            self._context.call_on_fit_task_begin(**self._event)
        is_heard = bool(getattr(selector, "_skl_callbacks", None))
        self.callback: Callback | None = self._tell if is_heard else None

    def end(self) -> None:
        """Tell that the fit is done."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._event)

    def _tell(self, iteration: Iteration) -> bool:
        task = self._context.subcontext(task_name=f"iteration {iteration['iteration']}")
        event = {**self._event, "metadata": {"iteration": iteration}}
        task.call_on_fit_task_begin(**event)
        return bool(task.call_on_fit_task_end(**event))
