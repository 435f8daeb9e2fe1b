"""The options of a search: each declared once, for `select`, `compare` and the command line."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from swarmrs._base._choices import (
    ANSWERS,
    CLASSIFIERS,
    CONSTANT,
    CVS,
    METRICS,
    NATIVE_SCORES,
    OBJECTIVES,
    PICKS,
    PRESCREENS,
    RARE_CLASS,
    SCALES,
    WEIGHTS,
)
from swarmrs._base._options import Option
from swarmrs.data._options import TASK

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from swarmrs._base._messages import Setting
    from swarmrs._base._resources import RandomState
    from swarmrs.evaluation._estimator import Estimator, Scorer, Scoring
    from swarmrs.evaluation._folds import CV
    from swarmrs.filters._groups import Groups
    from swarmrs.search._options._constraints import Together
    from swarmrs.search._results._progress import Callback


class SearchOptions(TypedDict, total=False):
    """All options of a search but its data."""

    # -- the search ------------------------------------------------------------------------------
    algo: Annotated[
        str,
        Option(
            default="auto",
            help="Search algorithm, by its id. auto lets several compete on held-out rows.",
            more="`swarmrs.algorithms` lists all of them. Options that belong to one search, or a "
            "scorer, make auto run vlpso-ls alone.",
            doors="pc",
            flags=("--algo", "-a"),
            metavar="ID",
            section="Search",
            brief=True,
        ),
    ]
    algo_params: Annotated[
        "Mapping[str, Setting] | None",
        Option(
            help="Hyperparameters of the algorithm, such as population=50.",
            more="A mapping of names to values; what it does not name has the algorithm's default.",
            cli=list[str],
            flags=("--set",),
            metavar="NAME=VALUE",
            section="Search",
        ),
    ]
    objective: Annotated[
        "str | Mapping[str, Setting]",
        Option(
            default="error",
            help="Cost to minimize: error, paper, weighted, hybrid, gaussian, filter-cfs, "
            "filter-mrmr.",
            more="``'error'`` is 1 - score, or an error of numbers. ``'paper'`` is the fitness "
            "function of the algorithm's own paper. ``'weighted'`` is alpha * error + (1 - alpha) "
            "* share of features. ``'hybrid'`` is -gamma * balanced accuracy - (1 - gamma) * "
            "separation of the classes. A mapping gives the weights: "
            "``{'kind': 'weighted', 'alpha': 0.8}``.",
            section="Search",
            words=OBJECTIVES,
        ),
    ]
    answer: Annotated[
        str,
        Option(
            default="best",
            help="What the search answers with: best (the best subset it evaluated) or vote (the "
            "features that most of its 200 best subsets have).",
            more="``'rks'`` and ``'cem'`` answer with their ranking in either case.",
            doors="pc",
            section="Search",
            words=ANSWERS,
        ),
    ]
    preset: Annotated[
        "str | None",
        Option(
            help="Settings of a published study, such as tran2019. Explicit options override it.",
            more="`swarmrs.presets` lists them.",
            section="Search",
        ),
    ]
    random_state: Annotated[
        "RandomState",
        Option(
            help="Random seed.",
            more="None draws one, which the result holds.",
            doors="pc",
            cli=int,
            flags=("--seed", "--random-state"),
            section="Search",
            brief=True,
            shown="random, printed with the result",
        ),
    ]
    # -- evaluation ------------------------------------------------------------------------------
    task: Annotated["str | None", replace(TASK, doors="p")]
    estimator: Annotated[
        "str | Estimator | None",
        Option(
            help="Predictor that scores a subset: knn, nb (Gaussian naive Bayes) or ridge "
            "(linear).",
            more="None is ``'knn'``: 5 nearest neighbors on min-max scaled features. "
            "`KNeighborsClassifier`, `KNeighborsRegressor`, `GaussianNB`, `RidgeClassifier` and "
            "`Ridge` of scikit-learn run natively, alone or in a pipeline after `MinMaxScaler` or "
            "`StandardScaler`; any other classifier or regressor is cross-validated by "
            "scikit-learn.",
            flags=("--estimator", "-e"),
            section="Evaluation",
            brief=True,
            shown="knn",
            words=CLASSIFIERS,
        ),
    ]
    n_neighbors: Annotated[
        "int | None",
        Option(
            help="Number of neighbors of knn.",
            doors="cm",
            flags=("--n-neighbors", "-k"),
            section="Evaluation",
            shown="5",
        ),
    ]
    metric: Annotated[
        "str | None",
        Option(
            help="Distance of knn: euclidean, manhattan.",
            doors="cm",
            section="Evaluation",
            shown="euclidean",
            words=METRICS,
        ),
    ]
    weights: Annotated[
        "str | None",
        Option(
            help="Vote of knn: uniform, distance.",
            doors="cm",
            section="Evaluation",
            shown="uniform",
            words=WEIGHTS,
        ),
    ]
    ridge_alpha: Annotated[
        "float | None",
        Option(
            help="Penalty of ridge on the squared weights.",
            doors="cm",
            section="Evaluation",
            shown="the number of rows, 1 for numbers",
        ),
    ]
    cv: Annotated[
        "CV | None",
        Option(
            default=10,
            help="Cross-validation: a number of stratified folds, loo, complete, or holdout=0.3.",
            more="Folds of numbers are not stratified. As in scikit-learn, a number of folds does "
            "not shuffle the rows and None is 5 folds; splitters and lists of splits work, too.",
            metavar="FOLDS",
            section="Evaluation",
            brief=True,
            words=CVS,
        ),
    ]
    cv_seed: Annotated[
        "int | None",
        Option(
            help="Shuffle the rows before they are divided into folds, by this seed.",
            section="Evaluation",
        ),
    ]
    scale: Annotated[
        "str | None",
        Option(
            help="Feature scaling: minmax, standard, none; fold-minmax and fold-standard fit it "
            "inside each fold.",
            more="None is ``'minmax'`` for ``'knn'`` and ``'nb'``, ``'standard'`` for ``'ridge'``; "
            "an estimator is given the features as they are.",
            section="Evaluation",
            shown="minmax, standard for ridge",
            words=SCALES,
        ),
    ]
    scoring: Annotated[
        "Scoring | None",
        Option(
            help="Score to maximize, by its scikit-learn name: accuracy, balanced_accuracy, "
            "f1_macro, roc_auc_ovr, r2, neg_mean_absolute_error, ...",
            more="None is the accuracy, or R2 of numbers.",
            section="Evaluation",
            brief=True,
            shown="accuracy, r2 of numbers",
            words=NATIVE_SCORES,
        ),
    ]
    scorer: Annotated[
        "Scorer | None",
        Option(
            help="Function that scores subsets in place of an estimator.",
            more="It takes a boolean array with a row for each subset and returns their errors.",
            doors="p",
        ),
    ]
    fit_params: Annotated[
        "Mapping[str, object] | None",
        Option(
            help="Further arguments of the estimator's `fit`, such as ``sample_weight``.",
            doors="p",
        ),
    ]
    rare_class: Annotated[
        str,
        Option(
            default="warn",
            help="Classes with fewer rows than folds: warn, error, drop their rows, or merge "
            "them into one class.",
            metavar="POLICY",
            section="Data",
            words=RARE_CLASS,
        ),
    ]
    # -- features --------------------------------------------------------------------------------
    max_features: Annotated[
        "int | float | None",
        Option(
            help="Select at most this many features, or this share of them.",
            cli=float,
            metavar="N",
            section="Features",
            brief=True,
        ),
    ]
    include: Annotated[
        "Sequence[str | int]",
        Option(
            default=(),
            help="Features that are always selected.",
            doors="pc",
            metavar="COL",
            section="Features",
        ),
    ]
    exclude: Annotated[
        "Sequence[str | int]",
        Option(
            default=(),
            help="Columns to exclude.",
            doors="pc",
            metavar="COL",
            section="Features",
        ),
    ]
    together: Annotated[
        "Together",
        Option(
            default=(),
            help="Select these features together or not at all; 'encoded' keeps the dummy features "
            "of a categorical column together.",
            doors="pc",
            cli=list[str],
            metavar="COLS",
            section="Features",
        ),
    ]
    feature_groups: Annotated[
        "Groups | None",
        Option(
            help="Feature groups for algorithms that use them (gpso, igpso, ...): lbm, hclust, "
            "prefix or a file.",
            more="Or lists of features, or what `swarmrs.group` returned.",
            metavar="HOW",
            section="Features",
            shown="lbm, where groups are needed",
        ),
    ]
    one_per_group: Annotated[
        bool,
        Option(
            default=False,
            help="Select at most one feature of each group.",
            doors="pc",
            section="Features",
        ),
    ]
    prescreen: Annotated[
        "str | None",
        Option(
            help="Filter features before the search: su>0, top=K, fcbf, cfs.",
            metavar="RULE",
            section="Features",
            brief=True,
            words=PRESCREENS,
        ),
    ]
    constant: Annotated[
        str,
        Option(
            default="drop",
            help="Constant features: drop, keep.",
            metavar="POLICY",
            section="Data",
            words=CONSTANT,
        ),
    ]
    pick: Annotated[
        str,
        Option(
            default="best",
            help="Which evaluated subset to return: best, knee (of the Pareto front), 1se (the "
            "smallest within one standard error of the best), size<=K.",
            metavar="RULE",
            section="Features",
            words=PICKS,
        ),
    ]
    # -- stopping --------------------------------------------------------------------------------
    max_evals: Annotated[
        "int | None",
        Option(
            help="Maximum number of subset evaluations.",
            section="Stopping",
            shown="the algorithm's own",
        ),
    ]
    max_iter: Annotated[
        "int | None",
        Option(
            help="Maximum number of iterations; schedules such as a falling inertia follow it.",
            section="Stopping",
            shown="the algorithm's own",
        ),
    ]
    time_limit: Annotated[
        "float | None",
        Option(
            help="Maximum number of seconds. Such a search is not reproducible.",
            doors="pc",
            metavar="SECONDS",
            section="Stopping",
            brief=True,
        ),
    ]
    target_cost: Annotated[
        "float | None",
        Option(
            help="Stop when this cost is reached.",
            doors="pc",
            section="Stopping",
        ),
    ]
    patience: Annotated[
        "int | None",
        Option(
            help="Early stopping: stop after this many iterations without a better subset.",
            doors="pc",
            section="Stopping",
        ),
    ]
    rows: Annotated[
        "int | None",
        Option(
            help="Search a stratified sample of this many rows, drawn by the seed; the selection "
            "is scored on all rows.",
            more="Numeric targets are sampled at random. ``'auto'`` samples 2000 rows of a longer "
            "table anyway.",
            section="Stopping",
            brief=True,
            shown="all, 2000 for auto",
        ),
    ]
    # -- validation ------------------------------------------------------------------------------
    outer_cv: Annotated[
        "CV | None",
        Option(
            help="Nested cross-validation with these outer folds: an unbiased score for one more "
            "search per fold.",
            doors="pc",
            metavar="FOLDS",
            section="Validation",
            brief=True,
        ),
    ]
    test_size: Annotated[
        "float | None",
        Option(
            help="Hold out this share of the rows and score the selection on it.",
            doors="pc",
            metavar="SHARE",
            section="Validation",
        ),
    ]
    repeats: Annotated[
        int,
        Option(
            default=1,
            help="Repeat the search with seeds S, S+1, ... and report selection stability.",
            doors="pc",
            section="Validation",
        ),
    ]
    resample: Annotated[
        "float | None",
        Option(
            help="Draw this share of the rows anew for each repeat.",
            doors="pc",
            metavar="SHARE",
            section="Validation",
        ),
    ]
    # -- running ---------------------------------------------------------------------------------
    n_jobs: Annotated[
        "int | None",
        Option(
            help="Number of threads; -1 is all. It changes no result.",
            more="None is 1 unless `joblib.parallel_config` says otherwise.",
            doors="pc",
            flags=("--jobs", "-j", "--n-jobs"),
            section="Running",
            shown="-1",
        ),
    ]
    memory: Annotated[
        int,
        Option(
            default=2**30,
            help="Memory for cached distances and for the scores of evaluated subsets, such as "
            "512MiB. It changes no result.",
            more="In bytes.",
            doors="pc",
            cli=str,
            metavar="SIZE",
            section="Running",
            shown="1GiB",
        ),
    ]
    checkpoint: Annotated[
        "str | os.PathLike[str] | None",
        Option(
            help="Checkpoint file; the search resumes from it if it exists.",
            doors="pc",
            cli=Path,
            metavar="FILE",
            section="Running",
        ),
    ]
    keep_all: Annotated[
        bool,
        Option(
            default=False,
            help="Whether the result holds every evaluated subset.",
            doors="p",
        ),
    ]
    callback: Annotated[
        "Callback | None",
        Option(
            help="Function called after each iteration with its progress; True stops the search.",
            doors="p",
        ),
    ]
    on_interrupt: Annotated[
        str,
        Option(
            default="raise",
            help="Ctrl-C raises KeyboardInterrupt, or (``'return'``) stops the search and returns "
            "the best subset so far.",
            doors="p",
        ),
    ]
