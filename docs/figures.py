"""Draws the figures of algorithms.md from real runs: `.venv/bin/python docs/figures.py`.

Every family is run on the same data with the same folds. A swarm's line is the mean over a few
random seeds; a sequential search is deterministic and runs once. The same package gives the same
files: no dates, no random ids. Names after the script choose some of them: `figures.py ant`.
"""

import re
import sys
from functools import cache
from pathlib import Path

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


def draw(name: str) -> Path:
    """Run the algorithms of one figure, draw it and return its file."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    settings = {"svg.fonttype": "none", "svg.hashsalt": "swarmrs", "font.size": 9}
    with mpl.rc_context(settings):
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.6), layout="constrained")
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
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
        path = FOLDER / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    # A hundredth of a point is enough for the eye, and a third of the bytes.
    text = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.2f}", path.read_text())
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    return path


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or FIGURES:
        print(draw(chosen).name)
