"""Random changes of bytes, of JSON and of values."""

import random
import struct
from collections.abc import Sequence
from typing import Any

NUMBERS = (
    *("0", "-0", "1", "-1", "2", "3", "5", "10", "0.5", "1.5", "-0.5", "1e-320", "1e308", "-1e308"),
    *("1e400", "nan", "NaN", "inf", "-inf", "Infinity", "127", "128", "255", "256", "65535"),
    *("65536", "2147483647", "2147483648", "4294967296", "9223372036854775807"),
    *("9223372036854775808", "18446744073709551615", "18446744073709551616", "1e12", "1000000"),
    *("1000000000000", "9" * 40, "9" * 400, "0x10", "1_000", "1,5", "٣", "1e", "."),
)
WORDS = (
    *(
        "",
        " ",
        "\t",
        "\n",
        "\r\n",
        '"',
        "'",
        '""',
        ",",
        ";",
        "|",
        "?",
        "NA",
        "null",
        "None",
        "true",
    ),
    *("false", "\x00", "\ufeff", "é", "日本", "💥", "\x1b[31m", "%s", "{}", "{0}", "<b>", "../x"),
    *("a" * 300, "a" * 5000, "class", "error", "@data", "@attribute", "{a,b}", "date", "string"),
    *("[", "]", "{", "}", "=", "-", "--", "=1", "1/0", "\\", "%", "@", "#", "*", "^c.*$"),
)
_PACKED = [
    struct.pack(form, value)
    for form, values in (
        ("<i", (0, 1, -1, 2**31 - 1, -(2**31))),
        ("<q", (0, 1, -1, 2**63 - 1, -(2**63))),
        ("<d", (0.0, float("nan"), float("inf"), 1.7e308, 5e-324)),
    )
    for value in values
]
_DICTIONARY = [word.encode() for word in (*NUMBERS, *WORDS)] + _PACKED


def mutate_bytes(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a seed with one to eight random changes; now and then the seed itself."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        length = min(rng.choice((1, 1, 2, 4, 16, 256)), max(len(data) - at, 0))
        match rng.randrange(9):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(data):
                data[at] = rng.randrange(256)
            case 2:
                del data[at : at + length]
            case 3:
                del data[at:]
            case 4:
                data[at:at] = data[at : at + length] * rng.choice((1, 2, 50))
            case 5:
                other = rng.choice(seeds)
                begin = rng.randrange(len(other) + 1)
                data[at:at] = other[begin : begin + rng.choice((1, 8, 64, 4096))]
            case 6:
                data[at:at] = rng.choice(_DICTIONARY)
            case 7:
                word = rng.choice(_DICTIONARY)
                data[at : at + len(word)] = word
            case 8:
                _change_field(rng, data)
    return bytes(data)


def _change_field(rng: random.Random, data: bytearray) -> None:
    """Put a word from the dictionary in the place of a field of text."""
    separators = b",;\t\n \"'=:[]{}"
    at = rng.randrange(len(data) + 1)
    begin = end = at
    while begin > 0 and data[begin - 1] not in separators and at - begin < 200:
        begin -= 1
    while end < len(data) and data[end] not in separators and end - at < 200:
        end += 1
    data[begin:end] = rng.choice(_DICTIONARY)


def mutate_json(rng: random.Random, value: Any) -> Any:
    """Return a JSON value with one node replaced, removed, added or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(sorted(value))
        changed = dict(value)
        match rng.randrange(10):
            case 0:
                del changed[key]
            case 1:
                changed[rng.choice(WORDS)] = changed[key]
            case 2:
                changed[key] = rng.choice(list(changed.values()))
            case _:
                changed[key] = mutate_json(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        changed_list = list(value)
        match rng.randrange(6):
            case 0:
                del changed_list[at]
            case 1:
                changed_list *= 2
            case 2:
                changed_list[at:at] = [changed_list[at]] * rng.choice((1, 100))
            case _:
                changed_list[at] = mutate_json(rng, value[at])
        return changed_list
    return json_value(rng)


def json_value(rng: random.Random) -> Any:
    """Return a JSON value that is seldom the right one."""
    whole = (0, 1, -1, 2, 3, 7, 255, 65536, 2**31, 2**32, 2**53, 2**63, 2**64, 10**12, -(10**12))
    real = (0.0, -0.0, 0.5, 1.0, 1.5, -1.5, 1e308, -1e308, 5e-324, 1e-12, 1e18)
    other: tuple[Any, ...] = (None, True, False, [], {}, [[]], [0], [0, 0], [-1], {"a": 1}, [1e308])
    return rng.choice((rng.choice(whole), rng.choice(real), rng.choice(other), rng.choice(WORDS)))
