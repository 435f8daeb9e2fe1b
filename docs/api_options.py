"""Extension of griffe, which reads the docstrings for the API page of the site.

It reads sources, so that it does not see what `takes_options` adds when a module is imported: the
declared options of a search or of a reader, in signature and docstring. It takes the types of a
docstring for Python, which "array-like" is not, and the first of several words for the default.
"""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

ITEM = re.compile(r"^(\w+(?:, \w+)*) : (.*?)(?:, optional|, default=.*)?$", flags=re.M)


class Options(griffe.Extension):
    """Completes signatures and corrects types."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Take parameters and docstring of the imported function."""
        if any("takes_options" in str(decorator.value) for decorator in func.decorators):
            imported = getattr(import_module(func.module.path), func.name)
            declared = {parameter.name: parameter for parameter in func.parameters}
            func.parameters = griffe.Parameters(
                *(
                    declared.get(parameter.name) or shown(parameter)
                    for parameter in inspect.signature(imported).parameters.values()
                )
            )
            assert func.docstring is not None
            func.docstring.value = inspect.getdoc(imported) or ""
        parse(func)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Name the fields of a named tuple whose docstring does not explain them.

        Results are data classes that no user creates, so that their signatures are left out.
        """
        if "dataclass" in cls.labels:
            del cls.members["__init__"]
            cls.labels.discard("dataclass")
        is_tuple = any(str(base) == "NamedTuple" for base in cls.bases)
        if is_tuple and cls.docstring is not None and "Attributes\n-" not in cls.docstring.value:
            fields = ", ".join(f"`{name}`" for name in cls.attributes)
            cls.docstring.value += f"\n\nFields: {fields}."
        parse(cls)


def shown(parameter: inspect.Parameter) -> griffe.Parameter:
    """Return a keyword of a signature."""
    kind = griffe.ParameterKind.keyword_only
    return griffe.Parameter(parameter.name, kind=kind, default=repr(parameter.default))


def parse(thing: griffe.Function | griffe.Class) -> None:
    """Parse a docstring; its types are shown as they are written, defaults as the signature has."""
    if thing.docstring is None:
        return
    types = {
        name: kind
        for names, kind in ITEM.findall(thing.docstring.value)
        for name in (names, *names.split(", "))
        if not kind.isidentifier()
    }
    sections = griffe.parse_numpy(thing.docstring)
    for section in sections:
        if isinstance(
            section, (griffe.DocstringSectionParameters, griffe.DocstringSectionAttributes)
        ):
            for item in section.value:
                item.annotation = types.get(item.name, item.annotation)
                if isinstance(item, griffe.DocstringParameter) and item.name in thing.parameters:
                    item.value = thing.parameters[item.name].default
    # What the pages show; otherwise the docstring is parsed when a page is written.
    thing.docstring.parsed = sections
