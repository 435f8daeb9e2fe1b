"""Feature rankings and feature groups; imports `evaluation` and below."""
