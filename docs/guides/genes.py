# %% [markdown]
"""
# 12 000 genes

A gene table has some dozen patients and thousands of columns, so that some columns tell the classes apart by chance
alone. Two questions decide everything: which search can walk through so many columns, and how do you see through luck?
"""

# %% [markdown]
"""
## A table where the answer is known

Sixty samples of three tumors and 2000 genes. Four genes are raised in each tumor; the others are noise, and one probe
is dead. As in most such files there is a number of the patient, too.
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
Look before you search. Of many columns only those are listed that there is something to say about.
"""

# %%
# !swarmrs describe genes.parquet --target tumor

# %% [markdown]
"""
The dead probe is left out by itself. The number of the patient is not: whether a column is an identifier, only you
know. Exclude it, or a search may find that the tumors came in some order.

## Search

`vlpso` is made for this: its particles search prefixes of the ranked genes, short ones too, so that they need not
carry thousands of columns along. It measures by 1-NN and leave-one-out, as its paper does, which wastes no sample.
"""

# %%
# !swarmrs select genes.parquet -t tumor --exclude patient --algo vlpso --seed 1 --output reduced.csv

# %% [markdown]
"""
`reduced.csv` holds the chosen columns and the tumor. A subset proposed twice is evaluated once, hence two numbers of
evaluations. As the truth is known here: the genes that are not called raised got in by luck. On these sixty samples
they do help, and so the error above is optimistic. Do not quote it.

## What is it worth?

`--outer-cv` keeps each fold from a search and then asks what that search is worth on it. A prescreen drops the genes
that tell nothing about the tumor alone. It looks at classes, so it is done anew without each fold as well: nothing
leaks.
"""

# %%
for prescreen in (None, "su>0"):
    found = select((genes, labels), algo="vlpso", prescreen=prescreen, random_state=1, outer_cv=5)
    held_out = found.held_out
    print(
        f"{prescreen or 'all genes':9}  {found.size} genes, inner error {held_out.inner_error:.2f}, "
        f"outer error {held_out.outer_error:.2f}, stability {held_out.agreement.value:.2f}"
    )

# %% [markdown]
"""
Quote the outer error. The inner one is what the searches believe. With sixty samples even the outer one is good to
0.06 at best, the root of 0.3 x 0.7 / 60, so that the two ways above cannot be told apart.

A prescreen makes a search quicker, and with so few samples it rarely hurts. But a gene that tells something only
beside another does not survive it. Decide by the outer error, never by the inner one.

## The trap

Most false hopes come from choosing genes on all samples and cross-validating afterwards. Shuffle the tumors, so that
there is nothing to find, and the mistake shows itself:
"""

# %%
X, shuffled = genes.to_numpy(), rng.permutation(tumors)
choose = FilterSelector("mi", n_features=20)
judge = KNeighborsClassifier(1)
leaked = cross_val_score(judge, choose.fit_transform(X, shuffled), shuffled, cv=5)
honest = cross_val_score(make_pipeline(choose, judge), X, shuffled, cv=5)
print(f"error chosen before the folds {1 - leaked.mean():.2f}, inside them {1 - honest.mean():.2f}")

# %% [markdown]
"""
Guessing among three tumors errs in two of three. In a pipeline a selector is fitted on training rows only, and
`SwarmSelector` stands in the place of a filter just so:
"""

# %%
search = SwarmSelector("vlpso", prescreen="su>0", random_state=1, max_evals=2000)
scores = cross_val_score(make_pipeline(search, judge), X, tumors, cv=5)
print(f"error {1 - scores.mean():.2f} with the true tumors, in folds of scikit-learn")

# %% [markdown]
"""
Other folds, outside and inside (a selector takes ten unless told otherwise), and a shorter search: how far this is from
the outer error above, sixty samples leave open.

## A real table

11_Tumors, a table of 174 samples, 12 533 genes and 11 classes that is not part of the package, in the file
`11tumor.parquet`. One search takes seconds; each line is eleven of them.

| `swarmrs select 11tumor.parquet --algo vlpso --seed 1 --outer-cv 10 --jobs 1` | inner error | outer error | genes in a search |
| --- | --- | --- | --- |
| as it stands | 0.0549 | 0.1324 ± 0.0551 | 89 to 470 |
| with `--prescreen 'su>0'`, which leaves 3181 genes | 0.0543 | 0.1258 ± 0.0848 | 82 to 406 |

The seeds fix these numbers on any machine; seconds are another matter. Without `--outer-cv` it is one search, which
asks for 30 850 subsets, 16 042 with the prescreen. Its line of `seconds` had 7 and 3 on one thread of a busy server.

## Pitfalls

- `vlpso` is for thousands of columns; with a few dozen take `sffs`, `upso2d` or `pbpso`. Floating searches try all
  columns one by one: bound them by `--max-features`, and give them a prescreen first.
- Classes with fewer samples than folds are warned of, inner or outer. Leave-one-out has no such trouble.
- A list of genes is seldom the only one: see [stable.md](stable.md) before you name any.
- A long run should survive a crash: `--checkpoint run.ckpt` and a `--seed`. All of it is in [cli.md](../cli.md).
- What a prescreen and the rankings compute is in [filters.md](../filters.md), what `vlpso` does in
  [algorithms.md](../algorithms.md).
"""
