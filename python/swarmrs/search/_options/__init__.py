"""The options of a search: declarations, presets, algorithms, settings; imports `_results`."""
