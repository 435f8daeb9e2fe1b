"""Comparisons of methods: their cells, what can be concluded from them, and reports of both."""
