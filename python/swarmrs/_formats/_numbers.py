"""Text that stands for numbers."""

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
    return any(float(value) != int(value) for value in long)
