"""Figures of a result; imports `evaluation` and below, and matplotlib when one is drawn."""
