"""Searches from settings to results, repeated and nested; imports `plotting` and below."""
