"""Repeated and nested searches: stability, scores on held-out rows; imports `_search` and below."""
