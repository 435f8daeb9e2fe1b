"""Hostile arguments: of Python calls and of the command line."""

import datetime
import decimal
import fractions
import inspect
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import swarmrs
import typer
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from swarmrs.cli._app import app

from fuzz.mutate import NUMBERS, WORDS
from fuzz.outcome import Finding, ProvokedError, frames_of, judge


class Stop:
    """Ends a search after some iterations, whatever its budget is."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, iteration: object) -> bool:
        self.left -= 1
        return self.left <= 0


class Odd:
    """An object that answers nothing properly."""

    def __repr__(self) -> str:
        return "Odd()"

    def __len__(self) -> int:
        raise ProvokedError("len")

    def __array__(self, *_: object, **__: object) -> NDArray[np.float64]:
        raise ProvokedError("array")


def _raise(*_: object, **__: object) -> Any:
    raise ProvokedError("called")


def _first(*given: object, **named: object) -> Any:
    return (*given, *named.values())[0]


_MEANT = """
knn nb loo minmax standard none rank euclidean manhattan uniform distance accuracy balanced_accuracy
ovr_accuracy f1_macro matthews_corrcoef error weighted hybrid gaussian filter-cfs filter-mrmr paper
fold-minmax fold-standard su>0 fcbf cfs top=2 best knee size<=2 size<=0 1se warn drop merge keep
mean median mode drop-rows drop-columns ordinal onehot encoded lbm hclust hclust=2 kmeans su mi text
json kfold=3 kfold=0 holdout=0.3 holdout=2 split70 cv10 cv3 tran2019 hafiz2018 hafiz2018-nb xue2014
utf-8 utf-16 latin-1 csv arff parquet arrow 0/1 1/2 2/1 1G 1K 0 class f0 f0,f1 population=3
population=0 w=nan inertia=1 bpso[population=0]
"""


@cache
def _words() -> list[str]:
    """Return words that mean something to some option: ids, rules, policies."""
    return [*(card.id for card in swarmrs.algorithms()), *_MEANT.split()]


def value(rng: random.Random) -> Any:
    """Return a Python value that is seldom the right one."""
    whole = (
        0,
        1,
        -1,
        2,
        3,
        5,
        255,
        2**31,
        2**32,
        2**53 + 1,
        2**63,
        2**64,
        10**30,
        -(2**63),
        10**12,
    )
    real = (0.0, -0.0, 0.5, 0.999, 1.0, 1.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"))
    empty: tuple[Any, ...] = (
        None,
        (),
        [],
        {},
        set(),
        "",
        b"",
        range(0),
        np.array([]),
        [[]],
        [None],
    )
    odd: tuple[Any, ...] = (
        *(
            True,
            False,
            1j,
            Odd(),
            object(),
            Ellipsis,
            NotImplemented,
            int,
            lambda: 0,
            _raise,
            _first,
        ),
        *(b"bytes", decimal.Decimal("0.5"), fractions.Fraction(1, 3), datetime.date(2001, 2, 3)),
        *(
            np.int8(3),
            np.uint64(2**63),
            np.float32(0.5),
            np.bool_(True),
            np.str_("x"),
            np.float64(),
        ),
        *(np.array(3), np.array([1, 2]), np.array([[1, 2], [3, 4]]), np.array([np.nan]), np.nan),
        *(np.ma.masked, np.datetime64("NaT"), range(3), {1: 2}, {"population": 0}, {"w": None}),
        *({"kind": "weighted"}, {"kind": "weighted", "alpha": float("nan")}, {"alpha": 0.5}),
        *({"include": ["f0"]}, {"feature_groups": "hclust"}, {"one_per_group": 1}, {"x": 1}),
        *(KNeighborsClassifier(3), KNeighborsClassifier(99), GaussianNB(), GaussianNB),
        make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)),
        *({"population": 10**12}, {"": 1}, {"population": float("nan")}, {"population": [1]}),
        *([0, 0], [-1], [99], ["f0", "f0"], [["f0"], ["f0", "f1"]], [[0, 1], [1]], [[-1]], ["zz"]),
        *([([0, 1, 2], [3, 4])], [([0], [0])], [([], [])], [([0, 1], [10**9])], [(0, 1, 2)]),
        *(
            np.random.default_rng(1),
            np.random.RandomState(1),
            np.random.default_rng,
            Path("no.csv"),
        ),
        *(iter([]), (n for n in [1]), [1, "a"], ("a", 1), {"a"}, frozenset({1}), memoryview(b"ab")),
    )
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(whole)
    if kind == 1:
        return rng.choice(real)
    if kind == 2:
        return rng.choice(empty)
    if kind == 3:
        return rng.choice(_words())
    if kind == 4:
        return rng.choice((*NUMBERS, *WORDS))
    return rng.choice(odd)


def numbers(rng: random.Random) -> NDArray[np.float64]:
    """Return a table of numbers of any size and any magnitude."""
    rows, columns = rng.choice((0, 1, 2, 3, 8, 30)), rng.choice((0, 1, 2, 5, 20))
    generator = np.random.default_rng(rng.randrange(2**32))
    x = generator.normal(size=(rows, columns))
    for _ in range(rng.randrange(4)):
        if not x.size:
            break
        extreme = rng.choice(
            (np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, 1e200, -0.0, 1e-300, 2.0**53)
        )
        which = rng.randrange(4)
        if which == 0:
            x[rng.randrange(rows), rng.randrange(columns)] = extreme
        elif which == 1:
            x[:, rng.randrange(columns)] = extreme
        elif which == 2:
            x[::2, rng.randrange(columns)] = extreme
        else:
            x[:, rng.randrange(columns)] *= rng.choice((1e-310, 1e-12, 1e12, 1e300, 0.0))
    return x


def data(rng: random.Random) -> tuple[Any, Any]:
    """Return features and labels: odd types, shapes and values."""
    import pandas as pd
    import polars as pl
    import scipy.sparse

    x: Any = numbers(rng)
    n = len(x)
    y: Any = np.arange(n) % rng.choice((1, 2, 2, 2, 3, 100))
    match rng.randrange(24):
        case 0:
            x = np.ma.masked_array(x, mask=np.arange(x.size).reshape(x.shape) % 3 == 0)
        case 1:
            x = scipy.sparse.csr_matrix(np.nan_to_num(x))
        case 2:
            x = x.astype(object)
            if x.size:
                x.flat[0] = value(rng)
        case 3:
            x = x.astype(rng.choice(("f4", "f2", "c16", "i8", "U8", "S4", "?", "m8[s]", "f4,i4")))
        case 4:
            x = x.ravel() if rng.random() < 0.5 else x[np.newaxis]
        case 5:
            x = np.asfortranarray(x)[::-1, ::-1]
        case 6:
            x = x.tolist()
        case 7:
            x = pd.DataFrame(x).convert_dtypes() if rng.random() < 0.5 else pd.DataFrame(x)
        case 8:
            x = pl.DataFrame({f"c{at}": list(column) for at, column in enumerate(x.T)})
        case 9:
            x = pl.DataFrame({f"c{at}": list(column) for at, column in enumerate(x.T)}).lazy()
        case 10:
            x = [[value(rng) for _ in range(3)] for _ in range(n)]
        case 11:
            x = value(rng)
        case 12:
            x = np.matrix(x) if x.size else x
        case 13:
            x = pd.DataFrame({"a": ["x", "y"] * 4, "b": pd.Categorical(["p", None] * 4)})
            y = [0, 1] * 4
        case 14:
            x = pd.DataFrame({"a": [1, 2] * 4, "d": pd.to_datetime(["2001-01-01"] * 8)})
            y = [0, 1] * 4
    y = np.asarray(y)
    match rng.randrange(16):
        case 0:
            y = value(rng)
        case 1:
            y = y.astype(rng.choice(("f8", "U3", "O", "c16", "?", "M8[s]")))
        case 2:
            y = y.astype(float)
            if y.size:
                y[0] = rng.choice((np.nan, np.inf, 0.5, 1e300))
        case 3:
            y = y[:-1]
        case 4:
            y = y[:, np.newaxis]
        case 5:
            y = [value(rng) for _ in range(n)]
        case 6:
            y = np.ma.masked_array(y, mask=y == 0)
        case 7:
            y = pd.Series(y, dtype=rng.choice(("category", "Int64", "string")))
    return x, y


def good(rng: random.Random) -> tuple[Any, Any]:
    """Return a table nothing is wrong with."""
    from fuzz.targets import table_of

    frame = table_of(rng.randrange(3))
    return frame.drop("class").to_numpy(), frame["class"].to_numpy()


def _given(rng: random.Random, call: Callable[..., Any], leave: tuple[str, ...]) -> dict[str, Any]:
    """Return hostile values for one to three of the keywords of a call."""
    known = [
        name
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and name not in leave
    ]
    return {
        name: value(rng) for name in rng.sample(known, min(len(known), rng.choice((1, 1, 2, 3))))
    }


def call_python(rng: random.Random, note: Callable[[str], None]) -> Finding | None:
    """Call a public function or estimator with hostile arguments."""
    is_odd = rng.random() < 0.45
    x, y = data(rng) if is_odd else good(rng)
    door = rng.choice(_DOORS)
    name, call, given = door(rng, x, y, rng.random() < 0.75 or not is_odd)
    shown = {key: _shown(held) for key, held in given.items()}
    note(f"{name} with {shown}\nX = {_shown(x)}\ny = {_shown(y)}")
    return judge(call, lambda problem: _is_documented(problem, name, given))


def _shown(held: object) -> str:
    try:
        return " ".join(repr(held).split())[:1000]
    except BaseException as problem:
        return f"<{type(held).__name__}: {type(problem).__name__}>"


def _is_documented(problem: BaseException, name: str, given: dict[str, Any]) -> bool:
    frames = frames_of(problem)
    if isinstance(problem, TypeError) and len(frames) <= 3:
        return "argument" in str(problem)  # an unknown keyword, or one too many
    # Estimators validate their input by scikit-learn, with its errors.
    if name.endswith("Selector") and isinstance(problem, ValueError | TypeError):
        return any("sklearn/" in frame.filename for frame in frames)
    # A function of the user that fails by itself.
    ours = [frame for frame in frames if "/swarmrs/" in frame.filename]
    if {"fn", "scorer"} & given.keys() and ours and ours[-1].name in ("costs", "checked"):
        return True
    # A callable of the user that does not take what it is given.
    said = ("positional argument", "takes at most", "int() ")
    return isinstance(problem, TypeError) and any(words in str(problem) for words in said)


def _limits(given: dict[str, Any], after: int = 3) -> dict[str, Any]:
    """Return arguments that keep a search short where these do not."""
    return {"max_evals": 30, "callback": Stop(after)} | given


Door = tuple[str, Callable[[], Any], dict[str, Any]]


def _select(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.select, ("data", "target", "callback")) if hostile else {}
    given.setdefault("algo", rng.choice(_words()[:40]))
    return "select", lambda: swarmrs.select((x, y), **_limits(given)), given


def _selector(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.SwarmSelector, ()) if hostile else {}

    def call() -> None:
        chooser = swarmrs.SwarmSelector(**{"max_evals": 30} | given)
        chooser.fit(x, y)
        chooser.transform(x)
        chooser.get_feature_names_out()

    return "SwarmSelector", call, given


def _filter(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.FilterSelector, ()) if hostile else {}
    return "FilterSelector", lambda: swarmrs.FilterSelector(**given).fit(x, y).transform(x), given


def _evaluator(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.Evaluator, ("X", "y")) if hostile else {}
    masks = value(rng) if rng.random() < 0.5 else np.ones((2, 6), dtype=bool)
    given_masks = {"masks": masks}

    def call() -> None:
        swarmrs.Evaluator(x, y, **given).measure(masks)

    return "Evaluator", call, given | given_masks


def _rank(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.rank, ("data", "target")) if hostile else {}
    return "rank", lambda: swarmrs.rank((x, y), **given), given


def _group(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.group, ("data", "target")) if hostile else {}
    return "group", lambda: swarmrs.group((x, y), **given), given


def _describe(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.describe, ("data", "target")) if hostile else {}
    return "describe", lambda: str(swarmrs.describe((x, y), **given)), given


def _minimize(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.minimize, ("callback",)) if hostile else {}
    costs = [rng.choice((0, 1.5, np.nan, np.inf, -np.inf, 1e308, None, "x", 1j, [1]))] * 2
    shape = rng.choice(("right", "right", "right", "one", "odd"))

    def cost(masks: NDArray[np.bool_]) -> Any:
        if shape == "right":
            return masks.sum(axis=1)
        return costs[0] if shape == "one" else [rng.choice(costs)] * len(masks)

    called: dict[str, Any] = {"fn": cost, "n_bits": 6} | _limits(given)
    # A space of millions of bits is slow, but nothing is wrong with it.
    return "minimize", lambda: swarmrs.minimize(**called), given | {"costs": (shape, costs)}


def _compare(rng: random.Random, x: Any, y: Any, hostile: bool) -> Door:
    given = _given(rng, swarmrs.compare, ("data", "target", "cluster")) if hostile else {}
    shared = _given(rng, swarmrs.select, ("data", "target", "callback", "algo"))
    given |= {} if rng.random() < 0.5 else shared
    called: dict[str, Any] = {
        "algos": "sfs",
        "runs": 1,
        "protocol": "split70",
        "max_evals": 20,
    } | given
    return "compare", lambda: swarmrs.compare({"made": (x, y)}, **called), given


_DOORS = (
    *(_select, _select, _select, _selector, _selector, _filter, _evaluator, _evaluator),
    *(_rank, _group, _describe, _minimize, _compare),
)

# Not fuzzed: these leave this machine, or wait for another one.
_LEFT_ALONE = {"--fetch", "--cluster"}
_FILES = (
    "made.csv",
    "mixed.csv",
    "empty.csv",
    "folder",
    "no.csv",
    "sklearn:iris",
    "sklearn:no",
    "-",
)
# Files to write are in the folder of the case: nothing else may be replaced.
_OUTPUTS = (
    *("out.csv", "out.html", "out.json", "out", "made.csv", "folder", "folder/x.csv", "no/x.csv"),
    *("out.parquet", "x" * 300, "out.CSV", "out.arff", "", " ", "run.db", "a\x01b"),
)
_WRITES = {"output", "trace", "report", "kept", "checkpoint", "store", "figures", "data_dir"}


@cache
def commands() -> dict[str, list[Any]]:
    """Return the commands with those of their parameters that are fuzzed."""
    root: Any = typer.main.get_command(app)
    return {
        name: [param for param in command.params if not _LEFT_ALONE & {*param.opts}]
        for name, command in root.commands.items()
    }


def command(rng: random.Random) -> list[str]:
    """Return the words of a command, with options of its own and values that seldom fit."""
    name = rng.choice(("select", "select", "select", "compare", "compare", *commands()))
    words = [name] if rng.random() < 0.99 else [rng.choice(WORDS)]
    params = commands()[name]
    for param in params:
        if param.param_type_name == "argument" and rng.random() < 0.97:
            words += [_argument(rng, param.name) for _ in range(rng.choice((1, 1, 2)))][
                : param.nargs
            ]
    options = [param for param in params if param.param_type_name == "option"]
    for param in rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2, 3, 6)))):
        words.append(rng.choice(param.opts))
        if not param.is_flag:
            words.append(_option(rng, param))
    known = {option for param in options for option in param.opts}
    # What is accepted must end soon: these come last only if nothing else was said.
    for short, held in (("--max-evals", "30"), ("--time-limit", "2"), ("--runs", "2")):
        if short in known and short not in words:
            words += [short, held]
    if name == "compare":
        for needed, held in (("--algos", "sfs,random"), ("--store", "run2.db")):
            if needed not in words and "-a" not in words[:1]:
                words += [needed, held]
    if rng.random() < 0.05:
        words.insert(rng.randrange(1, len(words) + 1), rng.choice(WORDS))
    # A NUL cannot stand in an argument, nor can half of a surrogate pair.
    return [word.replace("\x00", "") for word in words]


def _argument(rng: random.Random, name: str) -> str:
    if name in ("store", "stores"):
        return rng.choice(("run.db", "run.db", "made.csv", "empty.csv", "no.db", "folder"))
    if name in ("data", "table"):
        return rng.choice(
            (*_FILES, "made.csv", "made.csv", "made.csv", "mixed.csv", "1", "tran2019")
        )
    return rng.choice((*_words(), "select", *commands(), *WORDS))


def _option(rng: random.Random, param: Any) -> str:
    if param.name in _WRITES:
        return rng.choice(_OUTPUTS)
    if param.name == "config":
        return rng.choice(("swarmrs.toml", "no.toml", "made.csv", "folder", ""))
    if param.name == "feature_groups" and rng.random() < 0.3:
        return rng.choice(_FILES)
    if param.name == "time_limit":
        return rng.choice(("0", "-1", "nan", "inf", "x", "0.01", "1", ""))
    text = str(param.help or "").replace(",", " ").replace(".", " ").split()
    kind = rng.randrange(4)
    if kind == 0 and text:
        return rng.choice(text)  # the help names the values
    pool = (NUMBERS, _words(), WORDS)[kind - 1]
    return rng.choice(pool).replace("/", "")
