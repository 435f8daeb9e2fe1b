"""Public names that live in private modules."""

from typing import TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """Have a class say that it belongs to `swarmrs`, from which it is imported."""
    cls.__module__ = "swarmrs"
    return cls
