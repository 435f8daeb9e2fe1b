"""A setting of an algorithm, written as text."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmrs._selection import Setting


def read_setting(text: str) -> "Setting":
    """Return the JSON scalar that a text is, or else the text.

    Examples
    --------
    >>> read_setting("50"), read_setting("true"), read_setting("ring")
    (50, True, 'ring')
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return text if isinstance(value, list | dict) else value
