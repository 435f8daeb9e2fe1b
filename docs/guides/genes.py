# %% [markdown]
"""
# Gene expression: thousands of features, few samples

A gene-expression table has some dozen samples and thousands of features, so that many features separate the classes by chance.
This guide selects genes with a swarm for high-dimensional data and estimates the error without overfitting.
"""

# %% [markdown]
"""
## Synthetic data

60 samples of three tumors and 2000 genes. Four genes are raised in each tumor; the others are noise, and one probe
is constant. The table also has a patient number.
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
`describe` lists the features that need attention:
"""

# %%
# !swarmrs describe genes.parquet --target tumor

# %% [markdown]
"""
The constant probe is dropped automatically. The patient number is not: exclude it, or the search may use the order of the
samples.

## Search

`vlpso` is designed for thousands of features: its particles search prefixes of the features ranked by relevance, so that most of
them have few features. Leave-one-out uses every sample for training.
"""

# %%
# !swarmrs select genes.parquet -t tumor --exclude patient --algo vlpso --cv loo -k 1 --seed 1 \
#   --output reduced.csv

# %% [markdown]
"""
`reduced.csv` holds the selected genes and the tumor. Here all five are truly raised. The error is optimistic nevertheless: it is
the lowest of 5203 evaluated subsets on the same folds. Do not report it.

## Nested cross-validation

`--outer-cv` estimates the error on samples that the search has not seen. A prescreen drops genes without relevance to the
class. It is fitted on the training samples of each outer fold, so nothing leaks.
"""

# %%
nearest = KNeighborsClassifier(1)
settings = {"algo": "vlpso", "estimator": nearest, "cv": "loo", "random_state": 1}
for prescreen in (None, "su>0"):
    found = select((genes, labels), prescreen=prescreen, outer_cv=5, **settings)
    held_out = found.held_out
    print(
        f"{prescreen or 'all genes':9}  {found.size} genes, inner error {held_out.inner_error:.2f}, "
        f"outer error {held_out.outer_error:.2f}, stability {held_out.agreement.value:.2f}"
    )

# %% [markdown]
"""
Report the outer error; the inner error is optimistic. With 60 samples the standard error of an outer error of 0.22 is 0.05, the
square root of 0.22 x 0.78 / 60, so the two rows differ by little more than two standard errors.

A prescreen makes the search faster, but a gene that is relevant only in combination with another does not survive it. Compare
outer errors, never inner ones.

## Selection bias

The most common mistake is to select genes on all samples and to cross-validate afterwards. With shuffled labels there is nothing
to find, and the bias becomes visible:
"""

# %%
X, shuffled = genes.to_numpy(), rng.permutation(tumors)
filter_genes = FilterSelector("mi", n_features=20)
leaked = cross_val_score(nearest, filter_genes.fit_transform(X, shuffled), shuffled, cv=5)
nested = cross_val_score(make_pipeline(filter_genes, nearest), X, shuffled, cv=5)
print(f"error: selection before the folds {1 - leaked.mean():.2f}, inside {1 - nested.mean():.2f}")

# %% [markdown]
"""
Random guessing among three tumors has an error of 0.67. In a pipeline the selector is fitted on training samples only. A
`SwarmSelector` takes the place of the filter:
"""

# %%
search = SwarmSelector(
    nearest, algo="vlpso", cv="loo", prescreen="su>0", random_state=1, max_evals=2000
)
scores = cross_val_score(make_pipeline(search, nearest), X, tumors, cv=5)
print(f"error {1 - scores.mean():.2f} with the true tumors")

# %% [markdown]
"""
This agrees with the outer error above, although the outer folds and the length of the search differ.

## Real data

11_Tumors has 174 samples, 12 533 genes and 11 classes. It is not part of the package; here it is the file
`11tumor.parquet`. One search takes seconds; each row of the table is eleven searches.

| `swarmrs select 11tumor.parquet --algo vlpso --objective hybrid -k 1 --metric manhattan --cv loo --seed 1 --outer-cv 10 --jobs 1` | inner error | outer error | genes per search |
| --- | --- | --- | --- |
| all genes | 0.0549 | 0.1324 ± 0.0551 | 89 to 470 |
| with `--prescreen 'su>0'`, which keeps 3181 genes | 0.0543 | 0.1258 ± 0.0848 | 82 to 406 |

Without `--outer-cv` it is one search of 30 850 evaluations, 16 042 with the prescreen, which took 7 and 3 seconds on one thread
of a busy server.

## Pitfalls

- `vlpso` is for thousands of features; for a few dozen use `sffs`, `upso2d` or `pbpso`. Floating searches evaluate every feature
  in each step: limit them with `--max-features` and a prescreen.
- Classes with fewer samples than folds give a warning. Leave-one-out has no such problem.
- Many gene lists are equally good: see [stable.md](stable.md) before you report one.
- Use `--checkpoint run.ckpt` and `--seed` for long searches; see [cli.md](../cli.md).
- Prescreens and rankings are explained in [filters.md](../filters.md), `vlpso` in [algorithms.md](../algorithms.md).
"""
