"""The selectors of scikit-learn's interface; imports `search` and below."""
