"""Who is given what a fit is given beside the samples, by scikit-learn's metadata routing."""

from collections.abc import Mapping
from typing import Any

from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from swarmrs.exceptions import SpecError

# A pipeline asks for the second where a user asks for the first.
_CALLERS = ("fit", "fit_transform")


def router_of(selector: Any) -> MetadataRouter:
    """Return who may ask for metadata: the splitter, and an estimator with its scorer."""
    router = MetadataRouter(owner=selector)
    if hasattr(selector.cv, "split") and not isinstance(selector.cv, str):
        router.add(splitter=selector.cv, method_mapping=_mapped("split"))
    if hasattr(selector.estimator, "fit"):
        router.add(estimator=selector.estimator, method_mapping=_mapped("fit"))
        scorer = check_scoring(selector.estimator, scoring=selector.scoring)
        router.add(scorer=scorer, method_mapping=_mapped("score"))
    return router


def route(selector: Any, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what of the metadata goes to the splitter, and what to the estimator and its scorer.

    Raises
    ------
    SpecError
        If there is metadata and routing is not enabled.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if not given:
        return {}, {}
    if not get_config()["enable_metadata_routing"]:
        raise SpecError(
            f"fit is given {', '.join(given)}, but metadata routing is not enabled",
            "enable it by sklearn.set_config(enable_metadata_routing=True)",
        )
    routed = process_routing(selector, "fit", **given)
    of_splitter = dict(routed.splitter.split) if "splitter" in routed else {}
    of_estimator = {}
    if "estimator" in routed:
        of_estimator = {**routed.estimator.fit, **routed.scorer.score}
    return of_splitter, of_estimator


def _mapped(callee: str) -> MethodMapping:
    mapping = MethodMapping()
    for caller in _CALLERS:
        mapping.add(caller=caller, callee=callee)
    return mapping
