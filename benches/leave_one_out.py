"""Leave-one-out 1-NN accuracy of sffs and cdbpso, the protocol of the CD-BPSO paper.

Data scaled to [0, 1], Euclidean distances. CD-BPSO is the best and the mean of several runs of its
own 2000 subsets; SFFS searches all sizes, within --evals. Printed as Markdown beside the accuracies
that the paper names in its text, where they are at hand.

    python benches/leave_one_out.py --datasets wine,sonar --seeds 5
"""

from __future__ import annotations

import argparse
from functools import partial

from sklearn.neighbors import KNeighborsClassifier
from swarmrs import Selection, select
from tables import path_of, published

DATASETS = "wine,sonar,wdbc,ionosphere,vehicle,vowel,glass,segmentation,satellite"


def _accuracy(found: Selection) -> float:
    accuracy = found.scores["accuracy"]
    assert accuracy is not None, "our own classifiers tell all scores"
    return 100 * accuracy


def _published() -> dict[str, float]:
    figures = published("chuang2012-2")  # accuracies only
    return {data: float(value) for (data, _, _), value in figures.items()}


def _line(name: str, args: argparse.Namespace, published: dict[str, float]) -> str:
    search = partial(
        select,
        path_of(name),
        estimator=KNeighborsClassifier(1),
        scale="minmax",
        cv="loo",
        n_jobs=args.jobs,
    )
    floating = search(algo="sffs", max_evals=args.evals)
    swarms = [search(algo="cdbpso", random_state=seed + 1) for seed in range(args.seeds)]
    best = min(swarms, key=lambda found: (found.cost, found.size))
    mean = sum(map(_accuracy, swarms)) / len(swarms)
    cells = [
        name,
        f"{_accuracy(floating):.2f} @ {floating.size}",
        str(floating.evaluations.total) + ("" if floating.stop == "finished" else " (cut)"),
        f"{_accuracy(best):.2f} @ {best.size}",
        f"{mean:.2f}",
        f"{published[name]:.2f}" if name in published else "",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print a row for each table that is at hand."""
    parser = argparse.ArgumentParser(description="Leave-one-out 1-NN of sffs and cdbpso.")
    parser.add_argument("--datasets", default=DATASETS, help="names, with commas")
    parser.add_argument("--seeds", type=int, default=5, help="runs of cdbpso")
    parser.add_argument("--evals", type=int, default=20_000, help="subsets sffs may ask for")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a run")
    args = parser.parse_args()
    print("| table | sffs, % | evaluations | cdbpso best, % | mean, % | CD-BPSO published, % |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in args.datasets.split(","):
        if path_of(name).exists():
            print(_line(name, args, _published()), flush=True)
        else:
            print(f"| {name} | not at hand | | | | |")


if __name__ == "__main__":
    main()
