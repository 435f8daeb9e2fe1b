"""Feature rankings and feature groups, without a classifier; imports `evaluation` and below."""
