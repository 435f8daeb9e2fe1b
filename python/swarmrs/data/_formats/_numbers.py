"""Text that stands for numbers."""

from decimal import Decimal

import polars as pl


def read_numbers(text: pl.Series) -> pl.Series | None:
    """Return text as whole numbers, or else as floats; None if it is not all numbers."""
    for kind in (pl.Int64, pl.Float64):
        numbers = text.cast(kind, strict=False)
        if numbers.null_count() == text.null_count():
            return numbers
    return None


def is_rounded(text: pl.Series, numbers: pl.Series) -> bool:
    """Tell whether text holds whole numbers that are other ones as floats."""
    if not numbers.dtype.is_float():
        return False
    long = text.filter(text.str.contains(r"^[+-]?\d{16,}$"))
    # Python reads no whole number of more than 4300 digits, but decimals of any length.
    return any(Decimal(float(value)) != Decimal(value) for value in long)
