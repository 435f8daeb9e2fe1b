"""A result as code: a Python file that fits the classifier of a search on the selected features."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from swarmrs._base._tasks import REGRESSION
from swarmrs.exceptions import SpecError
from swarmrs.search._options._presets import find_preset

if TYPE_CHECKING:
    from swarmrs.cli._input._options import Given
    from swarmrs.data._table import Table
    from swarmrs.evaluation._native import Classifier
    from swarmrs.search._options._settings import Settings
    from swarmrs.search._results._selection import Selection

# All that comes from users stands in the code as a literal, so that nothing they name is run.
_CODE = '''"""Features selected by swarmrs {version} ({algorithm}, seed {seed}), and a model.

Run it to print the {score} of the model; import `model` and `COLUMNS` to use it.
"""

{imports}

COLUMNS = [
{columns}
]

table = read_table(
{reading}
)
X, y = table.frame[COLUMNS].to_numpy(), table.y

# The scaler is fitted inside each fold, that of the search on all rows: errors may differ a little.
model = make_pipeline(
{steps}
)
model.fit(X, y)

if __name__ == "__main__":
    folds = {folds}
    {scored} = cross_val_score(model, X, y, cv=folds{scoring})
    print(f"{shown} of {{len(COLUMNS)}} features, mean of the folds")'''
# The words that differ: what is scored, and how that is printed.
_ACCURACY = {
    "score": "error",
    "scored": "accuracy",
    "scoring": "",
    "shown": "error {1 - accuracy.mean():.4f}",
}
_R2 = {"score": "R2", "scored": "r2", "scoring": "", "shown": "R2 {r2.mean():.4f}"}
_ERROR = {
    "score": "error",
    "scored": "errors",
    "scoring": ', scoring="neg_mean_absolute_error"',
    "shown": "mean absolute error {-errors.mean():.6g}",
}
_SCALERS = {"minmax": ["MinMaxScaler"], "standard": ["StandardScaler"], "none": []}


def check_snippet(data: str, estimator: str | None, preset: str | None) -> None:
    """Refuse, before anything is computed, what has no counterpart in code.

    Raises
    ------
    SpecError
        If the data cannot be read again, or scikit-learn has no such estimator.
    """
    if data == "-":
        raise SpecError("code cannot read standard input again", "give a file in place of -")
    study = {} if preset is None else find_preset(preset).options
    if (estimator or study.get("estimator")) == "nb-cdf":
        raise SpecError("scikit-learn has no nb-cdf", "write the result as .json or a table")


def snippet(
    result: "Selection", table: "Table", data: str, settings: "Settings", reading: "Given"
) -> str:
    """Return the code for a result.

    Parameters
    ----------
    result : Selection
        The result of the search.
    table : Table
        The data.
    data : str
        The file of the table, as the command line names it.
    settings : Settings
        The settings of the search.
    reading : mapping
        How the file was read.
    """
    plain: Mapping[str, Any] = result.to_dict()
    is_numeric = table.task is REGRESSION
    folds, split = _folds(plain["evaluation"]["folds"], is_numeric)
    equal = settings.equal_classifier
    assert equal is not None, "the command line has names, each of which has a classifier"
    scalers = _SCALERS[equal.scaling(settings.options["scale"]).removeprefix("fold-")]
    alpha = plain["evaluation"].get("ridge_alpha")
    equal = equal.settled(table) if alpha is None else replace(equal, ridge_alpha=alpha)
    classifier, home, arguments = _classifier(equal, is_numeric)
    # R2 says nothing about a single row.
    is_alone = is_numeric and split == "LeaveOneOut"
    words = _ERROR if is_alone else _R2 if is_numeric else _ACCURACY
    steps = [*(f"{scaler}()" for scaler in scalers), f"{classifier}({arguments})"]
    imports = [
        f"from sklearn.model_selection import {', '.join(sorted([split, 'cross_val_score']))}",
        f"from {home} import {classifier}",
        "from sklearn.pipeline import make_pipeline",
        *(f"from sklearn.preprocessing import {scaler}" for scaler in scalers),
        "from swarmrs import read_table",
    ]
    given = _given(
        {"target": table.target, "exclude": list(settings.options["exclude"]), **reading}
        | ({"task": table.task.name} if is_numeric else {})
    )
    return _CODE.format(
        version=plain["versions"]["swarmrs"],
        algorithm=plain["algorithm"],
        seed=plain["seed"],
        imports="\n".join(imports),
        columns="\n".join(f"    {literal(name)}," for name in result.selected),
        reading="\n".join(f"    {line}," for line in [literal(data), *given]),
        steps="\n".join(f"    {step}," for step in steps),
        folds=folds,
        **words,
    )


def literal(value: object) -> str:
    r"""Return a value as code, text in double quotes where that takes no more escapes.

    Examples
    --------
    >>> print(literal(["a", 'say "a"', "it's", "\n", 1]))
    ["a", 'say "a"', "it's", "\n", 1]
    """
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    code = repr(value)
    return f'"{code[1:-1]}"' if code.startswith("'") and '"' not in code else code


def _given(arguments: Mapping[str, object]) -> list[str]:
    """Write the arguments of `read_table` that are other than its defaults."""
    from swarmrs import read_table

    parameters = inspect.signature(read_table).parameters
    defaults: dict[str, object] = {
        name: parameter.default for name, parameter in parameters.items()
    }

    def is_given(name: str, value: object) -> bool:
        return (tuple(value) if isinstance(value, list) else value) != defaults[name]

    return [
        f"{name}={literal(value)}" for name, value in arguments.items() if is_given(name, value)
    ]


def _classifier(classifier: "Classifier", is_numeric: bool) -> tuple[str, str, str]:
    """Return its name in scikit-learn, or that of the regressor, its module and its arguments."""
    if classifier.name == "nb":
        return "GaussianNB", "sklearn.naive_bayes", ""
    if classifier.name == "ridge":
        name = "Ridge" if is_numeric else "RidgeClassifier"
        return name, "sklearn.linear_model", f"alpha={classifier.ridge_alpha}"
    given = ", ".join(f"{name}={literal(getattr(classifier, name))}" for name in classifier.own)
    name = "KNeighborsRegressor" if is_numeric else "KNeighborsClassifier"
    return name, "sklearn.neighbors", given


def _folds(folds: Mapping[str, Any], is_numeric: bool) -> tuple[str, str]:
    """Return folds of the same kind as code, and the class that makes them."""
    kind = "" if is_numeric else "Stratified"
    if folds["scheme"] == "loo":
        return "LeaveOneOut()", "LeaveOneOut"
    if folds["scheme"] == "complete":
        # A hundred of the splits, drawn at random, for their mean over all.
        drawn = f"n_splits=100, test_size={folds['test']}, random_state=0"
        return f"ShuffleSplit({drawn})", "ShuffleSplit"
    seed = f"random_state={folds['seed'] % 2**32}"  # scikit-learn takes no more
    if folds["scheme"] == "holdout":
        split = f"{kind}ShuffleSplit"
        return f"{split}(n_splits=1, test_size={folds['test']}, {seed})", split
    if folds["scheme"] == "wrap5":
        split = f"Repeated{kind}KFold"
        return f"{split}(n_splits=5, n_repeats=5, {seed})", split
    shuffled = f", shuffle=True, {seed}" if folds["shuffle"] else ""
    return f"{kind}KFold(n_splits={folds['k']}{shuffled})", f"{kind}KFold"
