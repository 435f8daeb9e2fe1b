"""The methods of a comparison: algorithms with their hyperparameters."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swarmrs._base._hints import setting
from swarmrs._base._messages import Setting, check_word, read_setting
from swarmrs.exceptions import SpecError
from swarmrs.search._options._cards import Card, Parameter
from swarmrs.search._options._settings import algorithms

# Not an algorithm but the baseline of the others: every feature, evaluated once.
ALL = "all"

# The families of deterministic algorithms.
_DETERMINISTIC = ("sequential", "filter")


@dataclass(frozen=True)
class Method:
    """An algorithm and its hyperparameters.

    Attributes
    ----------
    label : str
        Its name in results: ``vlpso``, or ``vlpso[population=50]`` with hyperparameters of its own.
    algo : str
        The id of the algorithm, or ``all``.
    params : mapping
        All hyperparameters given, those for all methods included.
    is_random : bool
        Whether the result depends on the random seed.
    """

    label: str
    algo: str
    params: Mapping[str, Setting]
    is_random: bool


def read_methods(
    algos: str | Sequence[str], common: Mapping[str, Setting] | None = None
) -> list[Method]:
    """Return the methods in ``bpso,vlpso[population=50,inertia=0.7],all``.

    Parameters
    ----------
    algos : str or sequence of str
        Ids of algorithms, with commas or as a list; ``all`` selects every feature. The
        hyperparameters of one method follow it in brackets.
    common : mapping, optional
        Hyperparameters of every method that has them; those in brackets override them.

    Raises
    ------
    SpecError
        If a method or a hyperparameter is unknown or occurs twice.

    Examples
    --------
    >>> [method.label for method in read_methods("sfs, bpso[population=50],all")]
    ['sfs', 'bpso[population=50]', 'all']
    """
    texts = (
        _split(algos)
        if isinstance(algos, str)
        else [part for each in algos for part in _split(each)]
    )
    if not texts:
        raise SpecError(
            "no algorithm is given", f"name some with commas: {setting('algos', 'bpso,pbpso,all')}"
        )
    cards = {name.lower(): card for card in algorithms() for name in (card.id, *card.aliases)}
    methods = [_read_method(text, cards, common or {}) for text in texts]
    labels = [method.label for method in methods]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise SpecError(f"method '{twice[0]}' is given twice", "give it once")
    known = {parameter.name for text in texts for parameter in _params(text, cards)}
    for name in common or {}:
        if name not in known:
            raise SpecError(
                f"no method here has the hyperparameter '{name}'",
                f"those they have: {', '.join(sorted(known))}" if known else "they have none",
            )
    return methods


def _split(text: object) -> list[str]:
    """Cut at the commas outside of brackets."""
    if not isinstance(text, str):
        raise SpecError(f"algos has {text!r}, expected the id of an algorithm")
    if re.search(r"[\[\]]", re.sub(r"\[[^\[\]]*\]", "", text)):
        raise SpecError(f"the brackets of '{text}' do not match", "write bpso[population=50]")
    parts = re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", text)
    return [part.strip() for part in parts if part.strip()]


def _id_of(text: str) -> str:
    return text.partition("[")[0].strip().lower()


def _params(text: str, cards: Mapping[str, Card]) -> Iterable[Parameter]:
    return cards[_id_of(text)].params if _id_of(text) != ALL else ()


def _read_method(text: str, cards: Mapping[str, Card], common: Mapping[str, Setting]) -> Method:
    name = check_word("algorithm", _id_of(text), [*cards, ALL])
    inside = re.fullmatch(r"[^\[]*(?:\[(.*)\])?", text)
    if inside is None:
        raise SpecError(f"'{text}' is not a method", "write bpso or bpso[population=50]")
    own: dict[str, Setting] = {}
    for pair in filter(None, map(str.strip, (inside[1] or "").split(","))):
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise SpecError(f"'{pair}' of '{text}' has no value", "write bpso[population=50]")
        if key in own:
            raise SpecError(f"{key} of '{text}' is set twice", "set it once")
        own[key] = read_setting(value)
    if name == ALL:
        if own:
            raise SpecError(
                "'all' has no hyperparameters: it selects every feature", "leave them out"
            )
        return Method(ALL, ALL, {}, is_random=False)
    card = cards[name]
    known = [parameter.name for parameter in card.params]
    for key in own:
        check_word(f"hyperparameter of {card.id}", key, known)
    label = card.id
    if own:
        label += f"[{','.join(f'{name}={_written(value)}' for name, value in own.items())}]"
    params = {name: value for name, value in common.items() if name in known} | own
    return Method(label, card.id, params, card.family not in _DETERMINISTIC)


def _written(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
