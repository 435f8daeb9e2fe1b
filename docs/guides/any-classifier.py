# %% [markdown]
"""
# Feature selection for any classifier

Wrapper feature selection scores each feature subset by a model. 5-NN and naive Bayes are built in and fast. Any other
estimator of scikit-learn works as well, with any score and any cross-validation. It takes far longer per subset, so
the number of evaluations has to be small. This guide shows three ways to keep it small.
"""

# %% [markdown]
"""
## Logistic regression scored by ROC AUC

The estimator receives unscaled features. Put the scaler into the pipeline: it is then fitted inside each fold. The
solver `newton-cholesky` is fast for few features.
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
found = select((X, y), algo="sfs", prescreen="fcbf", estimator=model, scoring="roc_auc", cv=3)
print(found.evaluations)
print(", ".join(found.selected))
print(f"ROC AUC {1 - found.scores['error']:.4f}")

# %% [markdown]
"""
The error of a result is 1 - score, for every score: lower is better. A subset is never fitted twice. `n_jobs=-1` fits
subsets in parallel on all cores and changes no result.

## Fewer evaluations

**Prescreen.** The filter `fcbf` above keeps 7 of 30 features. Forward selection among 7 features needs at most 28
subsets.

**Small swarm and early stopping.** `population` sets the number of subsets per iteration. `max_evals`, `patience` and
`time_limit` stop the search.
"""

# %%
swarm = {"algo": "pbpso", "algo_params": {"population": 10}, "max_evals": 100, "patience": 5}
evaluation = {"estimator": model, "scoring": "roc_auc", "cv": 3}
found = select((X, y), prescreen="fcbf", random_state=1, **swarm, **evaluation)
print(found.evaluations, found.stop)
print(f"{found.size} features, ROC AUC {1 - found.scores['error']:.4f}")

# %% [markdown]
"""
**Native search, own model at the end.** This is the cheapest way. A built-in classifier evaluates thousands of subsets
in seconds. Your model scores only the [Pareto front](several-objectives.md).
"""

# %%
native = select((X, y), estimator="nb", algo="mopbpso", random_state=1, max_evals=2000)
for point in native.front:
    auc = cross_val_score(model, X[list(point.selected)], y, cv=3, scoring="roc_auc").mean()
    print(f"size {point.size}: naive Bayes error {point.error:.4f}, ROC AUC {auc:.4f}")

# %% [markdown]
"""
A good subset for one model is often good for another, but seldom the best one. Compare these scores with the search
above.

## Unbiased scores

The scores above are optimistic: the same folds chose the features. Put the selector into a pipeline and cross-validate
the pipeline. Each outer fold is then hidden from the search (nested cross-validation).
"""

# %%
selector = SwarmSelector(
    model, algo="sfs", prescreen="fcbf", max_features=2, scoring="roc_auc", cv=3
)
for name, steps in {"all features": [model], "2 features": [selector, model]}.items():
    auc = cross_val_score(make_pipeline(*steps), X, y, cv=3, scoring="roc_auc").mean()
    print(f"{name}: ROC AUC {auc:.4f}")

# %% [markdown]
"""
## Grouped samples

Samples of one patient must not be in both the training and the test part of a split. `select` takes a list of splits.
`SwarmSelector` takes `groups` by metadata routing, see [selectors.md](../selectors.md#sample-groups-and-weights).
"""

# %%
patients = np.arange(len(y)) // 3
splits = list(GroupKFold(3).split(X, y, patients))
found = select((X, y), algo="sfs", prescreen="fcbf", max_features=2, **evaluation | {"cv": splits})
print(f"{', '.join(found.selected)}: ROC AUC {1 - found.scores['error']:.4f}")

# %% [markdown]
"""
## Regression

With a regressor the target is numeric. The default score is R2; `scoring` sets another one.
"""

# %%
diabetes = load_diabetes()
X, y = pl.DataFrame(diabetes.data, schema=diabetes.feature_names), diabetes.target
regressor = {"estimator": Ridge(0.1), "scoring": "neg_root_mean_squared_error"}
found = select((X, y), algo="sfs", max_features=4, cv=5, **regressor)
print(f"{', '.join(found.selected)}: RMSE {-found.score:.2f}")

# %% [markdown]
"""
## Pitfalls

- `vlpso-ls` evaluates a hundred subsets or more per iteration. For a slow estimator set a small
  `population`, or use `sfs`, `sffs` or `pbpso`.
- A randomized estimator needs its own `random_state`. Without one, the same subset gets another score in the next run.
- `fit_params` of `select` passes `sample_weight` to `fit`, see [selectors.md](../selectors.md#sample-groups-and-weights).
- A function can replace the estimator: `scorer=` takes a function of feature masks
  ([evaluation.md](../evaluation.md#other-estimators-and-scorers)), `minimize` any function of bit vectors
  ([minimize.md](../minimize.md)).
"""
