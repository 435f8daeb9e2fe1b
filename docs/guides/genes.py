# %% [markdown]
"""
# Gene expression data: thousands of features

A gene expression table has a few dozen samples and thousands of features. Some features separate the classes by chance
alone, and overfitting is the main problem. This guide shows a search that handles thousands of features, and nested
cross-validation for an unbiased score.
"""

# %% [markdown]
"""
## Data

A synthetic table of 60 samples, 3 tumor classes and 2000 genes. Four genes are raised in each class (`raised_0` to
`raised_11`). The others are noise, and one is constant. The column `patient` is a row identifier.
"""

# %%
import numpy as np
import polars as pl
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from swarmrs import FilterSelector, SwarmSelector, select

rng = np.random.default_rng(0)
tumors = np.arange(60) % 3
values = rng.normal(size=(60, 2000))
for tumor in range(3):
    values[tumors == tumor, 4 * tumor : 4 * tumor + 4] += 1.5
values[:, 1999] = 0
names = [f"raised_{at}" if at < 12 else f"gene_{at}" for at in range(2000)]
genes = pl.from_numpy(values.round(3), schema=names)
labels = pl.Series("tumor", np.array(["a", "b", "c"])[tumors])
genes.with_row_index("patient").with_columns(labels).write_parquet("genes.parquet")

# %% [markdown]
"""
`describe` shows the table before the search. Of a table with many features it lists only those with a remark.
"""

# %%
# !swarmrs describe genes.parquet --target tumor

# %% [markdown]
"""
The constant gene is dropped. The identifier is only reported, because swarmrs cannot know its meaning: exclude it, or
the search may select it.

## Search

`vlpso` is a variable-length particle swarm for high dimensions. It ranks the genes by relevance, and each particle
searches a prefix of the ranking. Leave-one-out (`--cv loo`) trains on all samples but one, which suits small tables.
`--preset tran2019` adds the classifier, objective and budget of the original study.
"""

# %%
# !swarmrs select genes.parquet -t tumor --exclude patient --algo vlpso --preset tran2019 --seed 1 \
#   --output reduced.csv

# %% [markdown]
"""
`reduced.csv` has the selected genes and the target. A subset that is proposed twice is evaluated once; hence the two
numbers of evaluations. Seven of the eight selected genes are truly raised; `gene_28` is noise that fits these samples
by chance. The printed error is optimistic. Do not publish it.

## Nested cross-validation

`outer_cv=5` searches once per outer fold, without the samples of that fold, and scores the selection on them. A
prescreen drops genes before the search; `su>0` keeps the genes with positive symmetrical uncertainty. It uses the
class labels, so it is repeated for each outer fold, too.
"""

# %%
for prescreen in (None, "su>0"):
    settings = {"algo": "vlpso", "preset": "tran2019", "prescreen": prescreen, "random_state": 1}
    found = select((genes, labels), outer_cv=5, **settings)
    held_out = found.held_out
    print(
        f"{prescreen or 'all genes':9}  {found.size} genes, inner error {held_out.inner_error:.2f}, "
        f"outer error {held_out.outer_error:.2f}, stability {held_out.agreement.value:.2f}"
    )

# %% [markdown]
"""
Report the outer error. The inner error is far too low, because the search optimized it. With 60 samples the standard
error of the outer error is about 0.06 (the square root of 0.33 x 0.67 / 60), so the two settings do not differ
significantly.

A prescreen makes the search faster. It also drops genes that are relevant only in combination with another gene.
Compare settings by the outer error, never by the inner error.

## Selection bias

The most common mistake is to select genes on all samples and to cross-validate afterwards. With shuffled class labels
there is nothing to find, and the bias becomes visible:
"""

# %%
X, shuffled = genes.to_numpy(), rng.permutation(tumors)
mutual_information = FilterSelector("mi", n_features=20)
knn = KNeighborsClassifier(1)
reduced = mutual_information.fit_transform(X, shuffled)
biased = cross_val_score(knn, reduced, shuffled, cv=5)
unbiased = cross_val_score(make_pipeline(mutual_information, knn), X, shuffled, cv=5)
print(f"error: selection before the folds {1 - biased.mean():.2f}")
print(f"error: selection inside the folds {1 - unbiased.mean():.2f}")

# %% [markdown]
"""
Random guessing among three classes has an error of 0.67. In a pipeline, a selector is fitted on training samples only.
`SwarmSelector` works in a pipeline like a filter:
"""

# %%
search = SwarmSelector(knn, algo="vlpso", prescreen="su>0", random_state=1, max_evals=2000)
scores = cross_val_score(make_pipeline(search, knn), X, tumors, cv=5)
print(f"error: {1 - scores.mean():.2f} with the true class labels")

# %% [markdown]
"""
The inner folds, the objective and the budget differ from the nested cross-validation above. With 60 samples the
difference between the two errors means little.

## Pitfalls

- `vlpso` and `vlpso-ls` are made for thousands of features. For a few dozen features `sffs`, `upso2d` or `pbpso` work as
  well. Floating searches evaluate every feature in every step: limit them by `--max-features` and a prescreen.
- A class with fewer samples than folds causes a warning, for inner and for outer folds. Leave-one-out needs two samples
  per class.
- Many gene lists have nearly the same error: check the [stability](stable.md) before you interpret one.
- Long searches: `--checkpoint run.ckpt` with a `--seed` resumes after a crash, see [cli.md](../cli.md).
- More: [filters.md](../filters.md) explains prescreens and rankings, [algorithms.md](../algorithms.md) the algorithms,
  [high-dimension.md](../high-dimension.md) compares them on nine gene expression tables.
"""
