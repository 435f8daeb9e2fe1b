"""The methods of a comparison: an algorithm each, with the settings that set it apart."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swarmrs._base._hints import setting
from swarmrs._base._messages import Setting, check_word, read_setting
from swarmrs.exceptions import SpecError
from swarmrs.search._results import Card, Parameter
from swarmrs.search._settings import algorithms

# Not an algorithm but what others are held against: every feature, measured once.
ALL = "all"

_CHANCELESS = ("sequential", "filter")


@dataclass(frozen=True)
class Method:
    """An algorithm and its settings.

    Attributes
    ----------
    label : str
        What it is called in results: ``vlpso``, or ``vlpso[population=50]`` where settings are its
        own.
    algo : str
        The id of the algorithm, or ``all``.
    params : mapping
        All settings given, those for all methods included.
    has_chance : bool
        Whether another seed can give another answer.
    """

    label: str
    algo: str
    params: Mapping[str, Setting]
    has_chance: bool


def read_methods(
    algos: str | Sequence[str], common: Mapping[str, Setting] | None = None
) -> list[Method]:
    """Return the methods in ``bpso,vlpso[population=50,inertia=0.7],all``.

    Parameters
    ----------
    algos : str or sequence of str
        Ids of algorithms, with commas or as a list; ``all`` takes every feature. Settings of one
        method follow it in brackets.
    common : mapping, optional
        Settings for every method that has them; those in brackets win.

    Raises
    ------
    SpecError
        If a method or a setting is unknown or occurs twice.

    Examples
    --------
    >>> [method.label for method in read_methods("sfs, bpso[population=50],all")]
    ['sfs', 'bpso[population=50]', 'all']
    """
    texts = (
        _split(algos) if isinstance(algos, str) else [part for it in algos for part in _split(it)]
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
                f"no method here has the setting '{name}'",
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
        setting, equals, value = pair.partition("=")
        if not (setting and equals):
            raise SpecError(f"'{pair}' of '{text}' has no value", "write bpso[population=50]")
        if setting in own:
            raise SpecError(f"{setting} of '{text}' is set twice", "set it once")
        own[setting] = read_setting(value)
    if name == ALL:
        if own:
            raise SpecError("'all' has no settings: it takes every feature", "leave them out")
        return Method(ALL, ALL, {}, has_chance=False)
    card = cards[name]
    known = [parameter.name for parameter in card.params]
    for setting in own:
        check_word(f"setting of {card.id}", setting, known)
    label = card.id
    if own:
        label += f"[{','.join(f'{name}={_written(value)}' for name, value in own.items())}]"
    params = {name: value for name, value in common.items() if name in known} | own
    return Method(label, card.id, params, card.family not in _CHANCELESS)


def _written(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
