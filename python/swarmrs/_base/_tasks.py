"""What is predicted, classes or numbers, and what each of the two means everywhere else."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A kind of target.

    Attributes
    ----------
    name : {"classification", "regression"}
        What users call it.
    target : str
        What the target consists of.
    estimators : tuple of str
        The names of the engine's estimators that predict it.
    scorings : tuple of str
        The scores of the engine, by the names of scikit-learn; the first is the default.
    rankings : tuple of str
        The measures of relevance to it.
    methods, searches : tuple of str
        What competes in ``algo="auto"``: filters, and searches of the engine, the last two of which
        are for few features.
    guess : str
        What is predicted without looking at any feature.
    folds : str
        What folds are, before their number.
    """

    name: str
    target: str
    estimators: tuple[str, ...]
    scorings: tuple[str, ...]
    rankings: tuple[str, ...]
    methods: tuple[str, ...]
    searches: tuple[str, ...]
    guess: str
    folds: str


CLASSIFICATION = Task(
    name="classification",
    target="classes",
    estimators=("knn", "nb", "ridge"),
    scorings=("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef"),
    rankings=("su", "mi", "f", "mrmr", "relieff", "ridge-rfe", "ridge-sfs", "rks"),
    methods=("f", "mrmr", "su", "fcbf", "cfs"),
    searches=("ridge-rfe", "rks", "cem", "sffs", "upso2d"),
    guess="the majority class",
    folds="stratified ",
)
REGRESSION = Task(
    name="regression",
    target="numbers",
    estimators=("knn", "ridge"),
    scorings=(
        "r2",
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
    ),
    rankings=("mi", "f", "ridge-rfe", "ridge-sfs"),
    methods=("f", "mi"),
    searches=("ridge-rfe", "rks", "cem", "sffs", "upso2d"),
    guess="the mean of the training rows",
    folds="",
)
TASKS = {task.name: task for task in (CLASSIFICATION, REGRESSION)}
