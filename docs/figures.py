"""Draws the figures of the README and of the pages: `.venv/bin/python docs/figures.py`.

Every family of algorithms is run on the same data with the same folds. A swarm's line is the mean
over a few random seeds; a sequential search is deterministic and runs once. A figure of a guide is
drawn from the variables of its notebook after a run. A figure of the ledger is drawn from the
traces of some of its cells, which needs their data sets. The same package gives the same files: no
dates, no random ids. Names after the script choose some of them: `figures.py ant guide-genes`.
"""

import io
import re
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import swarmrs
from numpy.typing import NDArray

DATA = "sklearn:breast_cancer"
EVALUATIONS = 6000
SEEDS = range(1, 6)
FOLDER = Path(__file__).parent / "figures"

# The file of each family and the algorithms drawn in it.
FIGURES = {
    "learning2d": ("upso2d", "gpso2d", "lpso2d", "clpso2d"),
    "binary": ("bpso", "cbpso", "cdbpso", "chbpso", "bpsofs", "pbpso", "pbpsofs"),
    "grouped": ("psofs", "psomp", "psomp-t", "psorws", "gpso", "igpso"),
    "real": ("erfs", "pso42"),
    "highdim": ("pso", "clpso", "eclpso", "cso", "vlpso", "vlpso-ls"),
    "genetic": ("ga", "sga", "hga"),
    "ant": ("aco",),
    "sequential": ("sfs", "sffs", "sbs", "sbfs", "pta", "gsbs", "lfs"),
    "baseline": ("random",),
}
SEQUENTIAL = FIGURES["sequential"]
# All lines show the error on the same folds; an algorithm minimizes the objective of its paper,
# except for those whose paper needs another evaluation.
EVALUATION = {"cv": 10, "cv_seed": 0}

Line = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@cache
def run(algo: str) -> Line:
    """Return evaluations, the best error so far and the mean size of evaluated subsets.

    Searches that end by themselves differ in length, so all lines are sampled at the same points.
    """
    limit = None if algo in SEQUENTIAL else EVALUATIONS
    seeds = range(1) if algo in SEQUENTIAL else SEEDS
    objective = "error" if algo in FIGURES["highdim"] else "paper"
    settings = EVALUATION | {"objective": objective}
    traces = [
        swarmrs.select(
            DATA, algo=algo, random_state=seed, max_evals=limit, n_jobs=-1, **settings
        ).trace
        for seed in seeds
    ]
    end = min(int(trace["evaluations"][-1]) for trace in traces)
    start = max(int(trace["evaluations"][0]) for trace in traces)
    evaluations = np.unique(np.geomspace(start, end, 40).round())
    rows = [
        np.searchsorted(trace["evaluations"].to_numpy(), evaluations, "right") - 1
        for trace in traces
    ]
    error = [trace["best_error"].to_numpy()[at] for trace, at in zip(traces, rows, strict=True)]
    size = [trace["mean_size"].to_numpy()[at] for trace, at in zip(traces, rows, strict=True)]
    return evaluations, np.mean(error, axis=0), np.mean(size, axis=0)


@contextmanager
def saved(name: str, n_axes: int, width: float, n_rows: int = 1) -> Iterator[Any]:
    """Give a figure and its axes, `n_axes` in a row; write them to a file of this name."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    settings = {"svg.fonttype": "none", "svg.hashsalt": "swarmrs", "font.size": 9}
    with mpl.rc_context(settings):
        size = (width, 2.6 if n_rows == 1 else 1.8 * n_rows)
        figure, axes = plt.subplots(n_rows, n_axes, figsize=size, layout="constrained")
        yield figure, axes
        for each in figure.axes:
            each.spines[["top", "right"]].set_visible(False)
        path = FOLDER / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    # A hundredth of a point is enough for the eye, and a third of the bytes. Labels are kept.
    text = re.sub(r"<[^>]*>", lambda tag: rounded(tag[0]), path.read_text())
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


def rounded(tag: str) -> str:
    """Round the coordinates of a tag."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag)


def draw_family(name: str) -> None:
    """Run the algorithms of one figure and draw it."""
    with saved(name, 2, 7.6) as (figure, (left, right)):
        algos = FIGURES[name] if name == "baseline" else (*FIGURES[name], "random")
        for algo in algos:
            evaluations, error, size = run(algo)
            style = {"color": "0.6", "linestyle": "--"} if algo == "random" else {}
            left.step(evaluations, error, where="post", label=algo, linewidth=1.2, **style)
            right.plot(evaluations, size, linewidth=1.2, **style)
        left.set_ylabel("error of the best so far")
        right.set_ylabel("mean size of subsets")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.minorticks_off()
            axes.set_xlabel("evaluations")
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)


def draw_guide(name: str) -> None:
    """Run a notebook and draw the figure of its guide."""
    notebook = Path(__file__).with_name("guides") / f"{name.removeprefix('guide-')}.py"
    with tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmrs.exceptions.SwarmrsWarning)
        with redirect_stdout(io.StringIO()):
            names = runpy.run_path(str(notebook))
    with saved(name, 1, 4.2) as (_, axes):
        GUIDES[name](axes, names)


def bars(axes: Any, shares: dict[str, float], label: str, reference: float, meaning: str) -> None:
    """Draw horizontal bars with their values, and a reference line."""
    drawn = axes.barh([*shares], [*shares.values()], color="C0", height=0.6)
    axes.bar_label(drawn, fmt="%.2f", label_type="center", color="white")
    axes.axvline(reference, color="0.6", linestyle="--", label=meaning)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel(label)
    axes.figure.legend(loc="outside upper center", frameon=False, fontsize=8)


def genes(axes: Any, names: dict[str, Any]) -> None:
    """Draw the error on shuffled labels."""
    shares = {
        "selected before\nthe folds": 1 - names["biased"].mean(),
        "selected inside\nthe folds": 1 - names["unbiased"].mean(),
    }
    bars(axes, shares, "error on shuffled labels", 2 / 3, "guessing")


def credit(axes: Any, names: dict[str, Any]) -> None:
    """Draw the scores of inner and outer folds."""
    shares = {
        "inner CV": names["inner"],
        "outer CV": names["outer"],
        "outer CV,\nimputed": names["imputed"].scores["balanced_accuracy"],
    }
    bars(axes, shares, "balanced accuracy", 0.5, "majority class")


def any_classifier(axes: Any, names: dict[str, Any]) -> None:
    """Draw the score of a model on the subsets that another classifier found."""
    from sklearn.model_selection import cross_val_score

    cancer, model, front = names["cancer"], names["model"], names["native"].front
    scores = [
        cross_val_score(
            model,
            cancer.data[:, np.isin(cancer.feature_names, point.selected)],
            cancer.target,
            cv=3,
            scoring="roc_auc",
        ).mean()
        for point in front
    ]
    sizes = [point.size for point in front]
    axes.plot(sizes, [1 - point.error for point in front], "o-", label="naive Bayes, accuracy")
    axes.plot(sizes, scores, "s-", label="logistic regression, ROC AUC")
    axes.set_xlabel("features")
    axes.set_ylabel("score")
    axes.legend(frameon=False, fontsize=8)


def several_objectives(axes: Any, names: dict[str, Any]) -> None:
    """Draw the errors along a Pareto front."""
    from sklearn.naive_bayes import GaussianNB

    train, test = names["X_train"], names["X_test"]
    front = swarmrs.select((train, names["y_train"]), algo="mopbpso", **names["settings"]).front
    errors = []
    for point in front:
        model = GaussianNB().fit(train[list(point.selected)], names["y_train"])
        errors.append(1 - model.score(test[list(point.selected)], names["y_test"]))
    sizes = [point.size for point in front]
    axes.plot(sizes, [point.error for point in front], "o-", label="cross-validation")
    axes.plot(sizes, errors, "s-", label="held-out rows")
    axes.plot(front.knee.size, front.knee.error, "o", color="C3", label="knee", markersize=8)
    axes.set_ylim(0)
    axes.set_xlabel("features")
    axes.set_ylabel("error")
    axes.legend(frameon=False, fontsize=8)


def stable(axes: Any, names: dict[str, Any]) -> None:
    """Draw how often a cluster of features is selected, and its most frequent member."""
    rows = sorted(names["rows"], key=lambda row: -row[2])[:6]
    places = np.arange(len(rows))
    axes.barh(places - 0.2, [row[2] for row in rows], 0.4, label="any member")
    axes.barh(places + 0.2, [row[3] for row in rows], 0.4, label="most frequent member")
    axes.set_yticks(places, [f"{row[0]} ({row[1]})" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("share of 20 runs")
    axes.figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=8)


def draw_readme(name: str) -> None:
    """Draw the held-out score of each method against the number of features, and the estimate."""
    found = swarmrs.select(DATA, random_state=1, n_jobs=-1)
    competition = found.competition
    assert competition is not None
    parts = competition.frame.sort("size").partition_by("method", as_dict=True)
    winner = parts.pop((competition.method,))
    with saved(name, 1, 6.4) as (figure, axes):
        for index, part in enumerate(parts.values()):
            label = f"the other {len(parts)} methods" if index == 0 else None
            axes.plot(part["size"], part["score"], ".-", color="0.75", linewidth=1, label=label)
        axes.plot(winner["size"], winner["score"], "o-", color="C0", label=competition.method)
        low, high = competition.interval
        axes.errorbar(
            competition.size,
            competition.score,
            [[competition.score - low], [high - competition.score]],
            fmt="s",
            color="black",
            capsize=3,
            zorder=4,
            label="expected on new\nrows, 95 % interval",
        )
        axes.set_xlabel("features")
        axes.set_ylabel("held-out accuracy")
        axes.set_ylim(0.85)
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)


# The figure of the README: the run that it shows.
README = "auto"
# The file of each guide and what draws it.
GUIDES: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "guide-genes": genes,
    "guide-credit": credit,
    "guide-any-classifier": any_classifier,
    "guide-several-objectives": several_objectives,
    "guide-stable": stable,
}


# The figures of the ledger: methods, the traced column and the label of the axis. Those of tran2019
# are means of the first folds of the first run on some data sets; that of hafiz2018 has five runs.
VLPSO = {"VLPSO": "vlpso", "VLPSO-LS": "vlpso-ls"}
RIVALS = {"PSO": "pso", "ECLPSO": "eclpso"} | VLPSO
WITHOUT = {"with": "vlpso-ls", "without": "vlpso-ls[length_gap=none]"}
LEDGER: dict[str, tuple[dict[str, str], str, str]] = {
    "ledger-hafiz2018-1": ({"2D-UPSO": "upso2d", "BPSO": "bpso"}, "", "%"),
    "ledger-tran2019-6": (WITHOUT, "mean_size", "mean size in the swarm"),
    "ledger-tran2019-7": (RIVALS, "mean_size", "mean size in the swarm"),
    "ledger-tran2019-8": (VLPSO, "max_length", "maximum length"),
    "ledger-tran2019-9": (RIVALS, "best_size", "size of the best"),
    "ledger-tran2019-10": (RIVALS, "best_cost", "fitness of the best"),
}
DATASETS = {"hafiz2018": ("lsvt", "ionosphere"), "tran2019": ("srbct", "dlbcl", "9tumor")}
RUNS, FOLDS = 5, 1


@cache
def ledger_cells(study: str) -> tuple[Any, list[Any]]:
    """Return the ledger and the cells of a study."""
    root = Path(__file__).parents[1]
    sys.path.append(str(root / "benches"))
    from swarmrs.experiments._papers._ledger._file import Ledger
    from swarmrs.experiments._papers._ledger._work import plan_work
    from tables import TABLES

    ledger = Ledger(root / "benches" / "results" / "ledger.jsonl")
    return ledger, plan_work([study], TABLES, ledger, datasets=DATASETS[study])


@cache
def traced(kind: str, run: int = 1, fold: int = 0) -> Any:
    """Return the trace of a cell of the ledger."""
    from swarmrs.experiments._execution._run_cell import search, training_rows

    _, jobs = ledger_cells(kind.partition("/")[0])
    (job,) = (
        job for job in jobs if job.kind == kind and (job.cell.run, job.cell.fold) == (run, fold)
    )
    experiment = job.plan.experiment
    seen, _ = training_rows(job.cell, job.plan.data[0].table, experiment)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmrs.exceptions.SwarmrsWarning)
        return search(job.cell, seen, experiment, n_jobs=1).trace


def by_iteration(kind: str, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the iterations of a swarm, and the mean of a traced column over folds at their ends.

    A local search and a change of lengths are iterations of the trace, but not of the swarm.
    """
    traces = []
    for fold in range(FOLDS):
        trace = traced(kind, fold=fold)
        of_swarm = "moves" if "moves" in trace.columns else "iteration"
        traces.append(trace.group_by(of_swarm, maintain_order=True).last().sort(of_swarm))
    # The size of particles, where a local search evaluates other subsets as well.
    has_swarm = column == "mean_size" and "swarm_size" in traces[0].columns
    values = np.mean(
        [it["swarm_size" if has_swarm else column].to_numpy() for it in traces], axis=0
    )
    return traces[0][of_swarm].to_numpy(), -values if column == "best_cost" else values


def draw_lengths(name: str) -> None:
    """Draw a figure of tran2019: a panel for each data set."""
    methods, column, label = LEDGER[name]
    datasets = DATASETS["tran2019"]
    with saved(name, len(datasets), 7.6) as (figure, panels):
        for axes, data in zip(panels, datasets, strict=True):
            for method, algo in methods.items():
                iterations, values = by_iteration(f"tran2019/swarms/{data}/{algo}", column)
                start = 10 if methods is WITHOUT else 0
                iterations, values = iterations[start:], values[start:]
                # Points inside a level stretch show nothing.
                is_end = np.diff(values, prepend=np.nan, append=np.nan) != 0
                is_shown = is_end[:-1] | is_end[1:]
                axes.plot(iterations[is_shown], values[is_shown], linewidth=1.2, label=method)
            axes.set_title(data, fontsize=8)
            if column in ("mean_size", "best_size") and methods is not WITHOUT:
                axes.set_yscale("log")
                axes.minorticks_off()
        figure.supxlabel("iteration", fontsize=9)
        figure.supylabel(label, fontsize=9)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def draw_dynamics(name: str) -> None:
    """Draw the figure of hafiz2018: improvement and reduction of the best, over the iterations."""
    from swarmrs.experiments._papers._ledger._work import DEALS, deal_of, key_of_facts

    methods, _, label = LEDGER[name]
    ledger, _ = ledger_cells("hafiz2018")
    runs = range(1, RUNS + 1)
    with saved(name, 2, 7.6, n_rows=2) as (figure, panels):
        for row, data in zip(panels, DATASETS["hafiz2018"], strict=True):
            keys = [key_of_facts(f"hafiz2018/{data}", deal_of(run, DEALS)) for run in runs]
            n_features = ledger.facts[f"hafiz2018/{data}"]["features"]
            for axes, (setup, title) in zip(
                row, {"nb": "naive Bayes", "knn": "5-NN"}.items(), strict=True
            ):
                # Each run has the folds of its deal, and their error of all features.
                of_all = [ledger.facts[key][f"all_error_{setup}"] for key in keys]
                for color, (method, algo) in enumerate(methods.items()):
                    kind = f"hafiz2018/{setup}/{data}/{algo}"
                    traces = [traced(kind, run) for run in runs]
                    error, size = (
                        np.array([it[column].to_numpy()[::8] for it in traces])
                        for column in ("best_error", "best_size")
                    )
                    at = traces[0]["evaluations"].to_numpy()[::8]
                    improvement = np.mean(100 * (1 - error / np.array(of_all)[:, None]), axis=0)
                    reduction = np.mean(100 * (1 - size / n_features), axis=0)
                    for values, style, which in (
                        (improvement, "-", "PI"),
                        (reduction, "--", "reduction"),
                    ):
                        how = {"color": f"C{color}", "linestyle": style, "linewidth": 1.2}
                        axes.plot(at, values, label=f"{method}, {which}", **how)
                axes.set_title(f"{data}, {title}", fontsize=8)
        figure.supxlabel("evaluations", fontsize=9)
        figure.supylabel(label, fontsize=9)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def draw(name: str) -> None:
    """Draw the figure of this name."""
    if name in LEDGER:
        (draw_dynamics if name == "ledger-hafiz2018-1" else draw_lengths)(name)
    elif name == README:
        draw_readme(name)
    else:
        (draw_guide if name in GUIDES else draw_family)(name)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or [README, *FIGURES, *GUIDES, *LEDGER]:
        draw(chosen)
        print(f"{chosen}.svg", flush=True)
