"""Folds, classifiers, scores and objectives: the evaluation of a subset; imports `data`."""
