# %% [markdown]
"""
# Feature selection for any classifier or regressor

Any estimator of scikit-learn can score feature subsets, with any scorer and any splits. It is much slower than the
built-in k-NN and naive Bayes, so this guide also shows how to need few evaluations.
"""

# %% [markdown]
"""
## Select features for your model

Logistic regression, scored by the area under the ROC curve. The estimator gets the features as they are; a scaler in the
pipeline is fitted inside each fold. `newton-cholesky` is a fast solver for few features.
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
evaluation = {"estimator": model, "scoring": "roc_auc", "cv": 3}
found = select((X, y), algo="sfs", prescreen="fcbf", **evaluation)
print(found.evaluations)
print(", ".join(found.selected))
print(f"ROC AUC {found.score:.4f}")

# %% [markdown]
"""
The search minimizes the cost 1 - score. No subset is evaluated twice. `n_jobs=-1` fits in parallel on all cores and
does not change the result.

## Reduce the number of evaluations

1. **Prescreen.** The filter above keeps seven of thirty features, so that forward selection needs at most 28 evaluations.
2. **A small swarm with early stopping:** `population`, `max_evals`, `patience` or `time_limit`.
"""

# %%
swarm = {"algo": "pbpso", "algo_params": {"population": 10}, "max_evals": 100, "patience": 5}
found = select((X, y), prescreen="fcbf", random_state=1, **swarm, **evaluation)
print(found.evaluations, found.stop)
print(f"{found.size} features, ROC AUC {found.score:.4f}")

# %% [markdown]
"""
3. **A built-in classifier as a proxy.** It evaluates thousands of subsets in seconds; your model then scores only the
   [Pareto front](several-objectives.md).
"""

# %%
proxy = select((X, y), estimator="nb", algo="mopbpso", random_state=1, max_evals=2000)
for point in proxy.front:
    score = cross_val_score(model, X[list(point.selected)], y, cv=3, scoring="roc_auc").mean()
    print(f"size {point.size}: naive Bayes error {point.error:.4f}, ROC AUC of the model {score:.4f}")

# %% [markdown]
"""
A subset that is good for one model is often good for another, but rarely its best.

## Unbiased scores

All scores above are optimistic: the same folds chose the features. In a pipeline the selector is fitted on the training
part of each outer fold (nested cross-validation):
"""

# %%
selector = SwarmSelector(
    model, algo="sfs", prescreen="fcbf", max_features=2, scoring="roc_auc", cv=3
)
for name, steps in {"all features": (model,), "two features": (selector, model)}.items():
    score = cross_val_score(make_pipeline(*steps), X, y, cv=3, scoring="roc_auc").mean()
    print(f"{name}: ROC AUC {score:.4f}")

# %% [markdown]
"""
## Grouped rows

Rows of the same patient must not be in both the training and the test part. Give `select` a list of splits; a
`SwarmSelector` uses metadata routing, see [selectors.md](../selectors.md#sample-groups-and-weights).
"""

# %%
patients = np.arange(len(y)) // 3
splits = list(GroupKFold(3).split(X, y, patients))
grouped = evaluation | {"cv": splits}
found = select((X, y), algo="sfs", prescreen="fcbf", max_features=2, **grouped)
print(", ".join(found.selected), f"ROC AUC {found.score:.4f}")

# %% [markdown]
"""
## Regression

A regressor makes the target continuous. The default score is R2; `scoring` takes any other.
"""

# %%
diabetes = load_diabetes()
X, y = pl.DataFrame(diabetes.data, schema=diabetes.feature_names), diabetes.target
evaluation = {"estimator": Ridge(0.1), "scoring": "neg_root_mean_squared_error", "cv": 5}
found = select((X, y), algo="sfs", max_features=4, **evaluation)
print(", ".join(found.selected), f"root mean squared error {-found.score:.2f}")

# %% [markdown]
"""
## Pitfalls

- `vlpso-ls`, the default algorithm, evaluates a hundred subsets or more in each iteration: set its `population`, or use
  `sfs`, `sffs` or `pbpso` for slow estimators.
- A randomized estimator needs its own `random_state`, or its scores differ from run to run.
- `sample_weight` is passed to `fit` by `fit_params` of `select`.
- For other cost functions, `scorer=` takes any function of masks
  ([evaluation.md](../evaluation.md#other-estimators-and-scorers)), and `minimize` any function of bits
  ([minimize.md](../minimize.md)).
"""
