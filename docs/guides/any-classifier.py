# %% [markdown]
"""
# Any classifier

The model you will use need not be k-NN or naive Bayes. Any estimator of scikit-learn can measure subsets, by any
score, on any splits. It takes far longer for each subset than the built-in ones, so the question is how to spend few
of them well.
"""

# %% [markdown]
"""
## Choose for the model you will use

Logistic regression, judged by the area under the curve. The features are given as they are, so scaling belongs into
the model, where it is fitted inside each fold. `newton-cholesky` is the solver that is quick with few columns.
"""

# %%
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from swarmrs import SwarmSelector, select

cancer = load_breast_cancer()
X, y = pl.DataFrame(cancer.data, schema=cancer.feature_names.tolist()), cancer.target
model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
judge = {"classifier": model, "scoring": "roc_auc", "cv": 3}
found = select((X, y), algo="sfs", prescreen="fcbf", **judge)
print(found.evaluations)
print(", ".join(found.selected))
print(f"area under the curve {1 - found.scores['error']:.4f}")

# %% [markdown]
"""
The error of a result is 1 - the score, whatever the score is, so that less is better everywhere. No subset is fitted
twice. `n_jobs=-1` fits as many at once as there are cores and changes no result.

## Spend little

Three ways to need fewer fits. The prescreen above leaves seven columns of thirty, so that all steps of a forward
search need no more than 28 subsets. A small swarm has small iterations, and `max_evals`, `patience` or `time_limit` end it:
"""

# %%
swarm = {"algo": "pbpso", "params": {"population": 10}, "max_evals": 100, "patience": 5}
found = select((X, y), prescreen="fcbf", random_state=1, **swarm, **judge)
print(found.evaluations, found.stop)
print(f"{found.size} columns, area under the curve {1 - found.scores['error']:.4f}")

# %% [markdown]
"""
The third is the cheapest: let a built-in classifier search, thousands of subsets in seconds, and ask your model about
the [front](several-objectives.md) only.
"""

# %%
quick = select((X, y), classifier="nb", algo="mopbpso", random_state=1, max_evals=2000)
for point in quick.front:
    score = cross_val_score(model, X[list(point.selected)], y, cv=3, scoring="roc_auc").mean()
    print(f"size {point.size}: error {point.error:.4f} by naive Bayes, area {score:.4f} by yours")

# %% [markdown]
"""
A subset that is good for one model is often good for another, but seldom its best: compare with the search before.

## Is it honest?

All these scores are of the folds that chose the columns. In a pipeline each outer fold is kept from the search:
"""

# %%
selector = SwarmSelector("sfs", prescreen="fcbf", max_features=2, **judge)
for name, steps in {"all columns": (model,), "two columns": (selector, model)}.items():
    score = cross_val_score(make_pipeline(*steps), X, y, cv=3, scoring="roc_auc").mean()
    print(f"{name}: {score:.4f}")

# %% [markdown]
"""
## Rows that belong together

Several rows of one patient must not stand on both sides of a split. A list of splits says so in `select`; with
metadata routing a `SwarmSelector` does it inside pipelines, see [selectors.md](../selectors.md#groups-of-samples).
"""

# %%
patients = np.arange(len(y)) // 3
splits = list(GroupKFold(3).split(X, y, patients))
found = select((X, y), algo="sfs", prescreen="fcbf", max_features=2, **judge | {"cv": splits})
print(", ".join(found.selected), f"{1 - found.scores['error']:.4f}")

# %% [markdown]
"""
## Numbers instead of classes

A regressor makes the target numbers. Its own score is r2; any other is a word of `scoring` away.
"""

# %%
diabetes = load_diabetes()
X, y = pl.DataFrame(diabetes.data, schema=diabetes.feature_names), diabetes.target
judge = {"classifier": Ridge(0.1), "scoring": "neg_root_mean_squared_error"}
found = select((X, y), algo="sfs", max_features=4, cv=5, **judge)
print(", ".join(found.selected), f"root mean squared error {found.scores['error'] - 1:.2f}")

# %% [markdown]
"""
## Pitfalls

- `vlpso`, the default of `SwarmSelector`, asks for a hundred subsets or more in each iteration: give it a `population`, or
  take `sfs`, `sffs` or `pbpso` where fits are dear.
- Estimators with chance need a `random_state` of their own, or the next run gives the same subsets other scores.
- `sample_weight` reaches `fit` by `fit_params` of `select`; see [selectors.md](../selectors.md#groups-of-samples).
- Not even an estimator? `scorer=` takes any function of masks
  ([evaluation.md](../evaluation.md#measures-from-outside)), and `minimize` any function of bits
  ([minimize.md](../minimize.md)).
"""
