"""From files, frames and arrays to a table of numbers; imports `_base`."""
