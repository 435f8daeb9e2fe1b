"""Results as text: for people, as JSON, as CSV."""

import csv
import io
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmrs._base._files import whole_file
from swarmrs._base._messages import counted, listed, printable, rows_text, shortened, why_stopped
from swarmrs._base._tasks import CLASSIFICATION, REGRESSION, Task
from swarmrs.cli._output._text import aligned, line
from swarmrs.cli._output._validation import (
    baseline_text,
    competition_lines,
    held_out_lines,
    stability_lines,
)
from swarmrs.evaluation._losses import ERRORS, loss_name

if TYPE_CHECKING:
    import polars as pl

    from swarmrs.search._options._cards import Card
    from swarmrs.search._options._presets import Preset

FORMATS = ("table", "json", "csv")
OPTIMISTIC = "optimistic: the same folds chose the features (try --outer-cv 10)"

# The same of numbers, where it is other words.
_NUMBER_MEASURES = {
    "mi": "mi, information about five bins of the target, in bits",
    "f": "f, F statistic of a linear regression",
    "ridge-rfe": "ridge-rfe, recursive elimination by ridge regression",
    "ridge-sfs": "ridge-sfs, forward selection by ridge regression, leave-one-out",
}
_MEASURES = {
    "su": "su, symmetrical uncertainty with the class, 0 to 1",
    "mi": "mi, information about the class, in bits",
    "f": "f, F statistic of the classes (one-way ANOVA)",
    "mrmr": "mrmr, F statistic over mean correlation with the features before",
    "relieff": "relieff, weight by 10 nearest hits and misses, -1 to 1",
    "ridge-rfe": "ridge-rfe, recursive elimination by a ridge classifier",
    "ridge-sfs": "ridge-sfs, forward selection by a ridge classifier, leave-one-out",
    "rks": "rks, gain in accuracy of random subsets with the feature",
}


def as_json(value: object) -> str:
    """Return JSON for people and programs alike."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return CSV without a last line end."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().removesuffix("\n")


def selection_table(result: Mapping[str, Any], is_front_wanted: bool) -> str:
    """Return a selection, given as for JSON, for people; with the whole front if it is wanted."""
    counts = result["evaluations"]
    return "\n".join(
        [
            line("data", _data(result["data"])),
            *_rows(result["rows"]),
            line("algorithm", f"{result['algorithm']}, seed {result['seed']}"),
            line("evaluated by", _evaluated_by(result)),
            line("objective", _objective(result["objective"])),
            *_prescreen(result["prescreen"]),
            *_known_groups(result["groups"]),
            *_pick(result),
            "",
            *_chosen(result),
            *_codes(result["data"].get("codes", {})),
            "",
            *competition_lines(result["competition"]),
            *_losses(result),
            *_accuracies(result),
            line("cost", f"{result['cost']:.4f}"),
            line("evaluations", f"{counts['total']} ({counts['unique']} unique)"),
            line("seconds", _seconds(result)),
            line("stopped", why_stopped(result["stop"], result["params"], result["budget"])),
            *_held_out(result),
            *stability_lines(result["stability"], loss_name(result["scoring"])),
            *(_front(result) if is_front_wanted else []),
        ]
    )


def evaluation_table(result: Mapping[str, Any], scores: Iterable[str]) -> str:
    """Return the scores of a subset, given as for JSON, for people."""
    task = _task(result)
    compared = [(name.replace("_", " "), _beside(result, name)) for name in scores]
    width = max(19, *(len(name) + 2 for name, _ in compared))
    return "\n".join(
        [
            line("data", _data(result["data"])),
            line("evaluated by", _evaluated_by(result)),
            "",
            *_chosen(result),
            "",
            *(line(name, text, width) for name, text in compared),
            line("baseline", baseline_text(result["error"], result["baseline"], task), width),
        ]
    )


def cards_table(cards: Sequence["Card"]) -> str:
    """Return a line for each algorithm."""
    rows = [("ID", "NAME", "FAMILY", "YEAR", "SUMMARY")]
    rows += [(card.id, card.name, card.family, str(card.year), card.summary) for card in cards]
    return "\n".join(aligned(rows))


def card_table(card: "Card") -> str:
    """Return all there is to know about an algorithm."""
    budget = "until the search is complete" if card.evaluations is None else str(card.evaluations)
    rows = [("PARAMETER", "DEFAULT", "RANGE", "MEANING")]
    rows += [(p.name, json.dumps(p.default), p.range, p.about) for p in card.params]
    return "\n".join(
        [
            f"{card.id}: {card.name}",
            "",
            line("summary", card.summary),
            line("family", card.family),
            *([line("aliases", ", ".join(card.aliases))] if card.aliases else []),
            line("paper", f"{card.paper}, {card.year}"),
            *([line("doi", card.doi)] if card.doi else []),
            line("evaluations", budget),
            line(
                "in its paper",
                f"{_neighbors(card.evaluated_by)}, {_folds(card.evaluated_by, CLASSIFICATION)}",
            ),
            line("", f"objective {_objective(card.objective)}"),
            "",
            *aligned(rows),
        ]
    )


def preset_table(preset: "Preset") -> str:
    """Return the settings of a published study."""
    rows = [("OPTION", "VALUE"), *((name, str(value)) for name, value in preset.options.items())]
    plain = preset.to_dict()
    for option in ("max_evals", "population"):
        by_family = ", ".join(f"{family} {number}" for family, number in plain[option].items())
        rows.append((option, by_family))
    if preset.test_metric is not None:
        rows.append(("test_metric", preset.test_metric))
    return "\n".join(
        [
            f"{preset.name}: {preset.about}",
            "",
            line("study", preset.citation),
            "",
            *aligned(rows),
            "",
            "Counts by algorithm family; those that depend on the number of features are for 1000.",
        ]
    )


def ranking_table(ranking: Mapping[str, Any]) -> str:
    """Return a ranking, given as for JSON, for people."""
    # JSON has neither infinity nor NaN. Only an F statistic is infinite.
    undefined = "inf" if ranking["by"] == "f" else "-"

    def cell(value: object) -> str:
        if isinstance(value, bool):
            return "noise" if value else ""
        if isinstance(value, float):
            return f"{value:.6f}"
        return undefined if value is None else printable(str(value))

    rows = [[cell(value) for value in row.values()] for row in ranking["ranking"]]
    names = [name.removeprefix("is_") for name in ranking["ranking"][0]]
    rows.insert(0, [name.replace("_", " ").upper() for name in names])
    words = _MEASURES | (_NUMBER_MEASURES if _task(ranking) is REGRESSION else {})
    seed = "" if ranking["seed"] is None else f", seed {ranking['seed']}"
    return "\n".join(
        [
            line("data", _data(ranking["data"])),
            line("ranked by", f"{words[ranking['by']]}{seed}"),
            line("relevant", f"{ranking['relevant']} of {counted(ranking['ranked'], 'feature')}"),
            "",
            *aligned(rows),
        ]
    )


def grouping_table(grouping: Mapping[str, Any]) -> str:
    """Return groups, given as for JSON, for people."""
    settings = (
        f"{name.replace('_', ' ')} {value}"
        for name, value in grouping["settings"].items()
        if value is not None
    )
    alone = len(grouping["ungrouped"])
    rest = f", {counted(alone, 'feature')} in none" if alone else ""
    total = sum(map(len, grouping["groups"]))
    return "\n".join(
        [
            line("data", _data(grouping["data"])),
            line("grouped by", ", ".join([grouping["by"], *settings])),
            line("groups", f"{grouping['n_groups']} of {counted(total, 'feature')}{rest}"),
            "",
            *_groups(grouping["groups"]),
            *_curve(grouping["curve"], grouping["criterion"]),
        ]
    )


def group_rows(grouping: Mapping[str, Any]) -> Iterator[tuple[int, int, str]]:
    """Yield a row for each feature: its group, counted from 1, its index and its name."""
    both = zip(grouping["indices"], grouping["groups"], strict=True)
    for number, (indices, names) in enumerate(both, start=1):
        for index, name in zip(indices, names, strict=True):
            yield number, index, name


def write_frame(frame: "pl.DataFrame", path: Path) -> None:
    """Write a frame as its file name says."""
    # Polars hides why a write failed, so it writes to memory.
    content = io.BytesIO()
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="\t" if path.suffix.lower() == ".tsv" else ",")
    with whole_file(path) as file:
        file.write(content.getbuffer())


def write_text(text: str, path: Path) -> None:
    """Write text as a file."""
    with whole_file(path) as file:
        file.write(f"{text}\n".encode(errors="backslashreplace"))


def _task(result: Mapping[str, Any]) -> Task:
    """Return what was predicted."""
    return REGRESSION if result["data"]["classes"] is None else CLASSIFICATION


def _data(data: Mapping[str, Any]) -> str:
    counts = f"{counted(data['rows'], 'row')}, {counted(data['features'], 'feature')}"
    if data["classes"] is None:
        return f"{data['name']}: {counts}, numeric target '{data['target']}'"
    return f"{data['name']}: {counts}, {counted(data['classes'], 'class')} of '{data['target']}'"


def _rows(rows: Mapping[str, Any] | None) -> list[str]:
    if rows is None:
        return []
    return [line("rows", rows_text(rows["searched"], rows["scored"], rows["total"]))]


def _evaluated_by(result: Mapping[str, Any]) -> str:
    evaluation, preset = result["evaluation"], result["preset"]
    names = {"nb": "Gaussian naive Bayes", "nb-cdf": "naive Bayes with a published misprint"}
    name = names.get(evaluation["estimator"], evaluation["estimator"])
    if name == "knn":
        votes = "" if evaluation["weights"] == "uniform" else ", weighted by distance"
        name = f"{_neighbors(evaluation)}{votes}"
    elif name == "ridge":
        kind = "regression" if _task(result) is REGRESSION else "classifier"
        name = f"ridge {kind}, alpha {evaluation['ridge_alpha']:g}"
    study = "" if preset is None else f" (preset {preset})"
    return f"{name}, {_folds(evaluation, _task(result))}, scale {evaluation['scale']}{study}"


def _neighbors(evaluation: Mapping[str, Any]) -> str:
    return f"{evaluation['n_neighbors']}-NN, {evaluation['metric']}"


def _folds(evaluation: Mapping[str, Any], task: Task) -> str:
    folds = evaluation["folds"]
    schemes = {
        "loo": "leave-one-out",
        "complete": f"complete cross-validation, {folds.get('test')} left out",
        "kfold": f"{task.folds}{folds.get('k')}-fold",
        "holdout": f"{folds.get('test')} held out",
        "wrap5": f"{task.folds}5-fold repeated up to 5 times",
        "splits": f"{folds.get('n_splits')} splits",
    }
    return schemes[folds["scheme"]]


def _objective(objective: Mapping[str, Any]) -> str:
    weights = (f"{name} {value}" for name, value in objective.items() if name != "kind")
    return ", ".join([objective["kind"], *weights])


def _prescreen(screened: Mapping[str, Any] | None) -> list[str]:
    if screened is None:
        return []
    survivors, rule = counted(screened["survivors"], "feature"), screened["rule"]
    return [line("prescreen", f"{rule} leaves {survivors} of {screened['candidates']}")]


def _known_groups(groups: Sequence[Sequence[str]] | None) -> list[str]:
    if groups is None:
        return []
    total = counted(sum(map(len, groups)), "feature")
    return [line("groups", f"{len(groups)} of {total}")]


def _pick(result: Mapping[str, Any]) -> list[str]:
    rule, given_up = result["pick"], result["parsimony"]
    if rule == "best":
        return []
    if given_up is not None:
        what, size = loss_name(result["scoring"]), counted(given_up["best_size"], "feature")
        best = f"the best, {what} {given_up['best_loss']:.4f} of {size}"
        near = f"within one standard error ({given_up['standard_error']:.4f}) of {best}"
        return [line("pick", f"{rule}, the smallest {near}")]
    least = "error" if loss_name(result["scoring"]) == "error" else "loss"
    how = {"knee": "knee of the Pareto front"}.get(rule, f"{rule}, the least {least} among these")
    return [line("pick", how)]


def _seconds(result: Mapping[str, Any]) -> str:
    seconds = result["seconds"]
    if result["competition"] is not None:
        return f"{seconds['total']:.2f}"
    return f"{seconds['total']:.2f}, of which {seconds['search']:.2f} searching"


def _caution(result: Mapping[str, Any]) -> str:
    if result["held_out"] is not None:
        return f"optimistic: see the outer {'loss' if 'r2' in result else 'error'} below"
    return OPTIMISTIC if result["competition"] is None else "optimistic: see new rows above"


def _losses(result: Mapping[str, Any]) -> list[str]:
    """Say what the loss is, and that of a guess; the error, too, if it is another."""
    name, caution = loss_name(result["scoring"]), _caution(result)
    error = f"{result['error']:.4f}"
    if name == "error":
        lines = [line("error", f"{error}, {caution}")]
    else:
        lines = [line("loss", f"{result['loss']:.4f} ({name}), {caution}")]
    if result["baseline"] is not None:
        guessed = baseline_text(result["loss"], result["baseline"], _task(result))
        lines.append(line("baseline", guessed))
    # An estimator of scikit-learn has its one score only.
    has_more = name != "error" and result.get("accuracy") is not None
    return [*lines, line("error", error)] if has_more else lines


def _accuracies(result: Mapping[str, Any]) -> list[str]:
    """Return the accuracies, or R2 and the errors of numbers.

    An estimator of scikit-learn has its one score only.
    """
    named = (("accuracy", "accuracy"), ("balanced", "balanced_accuracy"), ("R2", "r2"))
    lines = [line(name, f"{result[key]:.4f}") for name, key in named if result.get(key) is not None]
    errors = (
        ("RMSE", "neg_root_mean_squared_error"),
        ("MAE", "neg_mean_absolute_error"),
    )
    return [*lines, *(line(name, f"{-result[key]:.6g}") for name, key in errors if key in result)]


def _beside(result: Mapping[str, Any], name: str) -> str:
    """Return a score and that of a guess."""
    guess = "mean" if _task(result) is REGRESSION else "majority class"
    return f"{result[name]:.4f} ({guess} {result['baseline'][name]:.4f})"


def _held_out(result: Mapping[str, Any]) -> list[str]:
    held_out, task = result["held_out"], _task(result)
    if held_out is None:
        return []
    return held_out_lines(held_out, _folds(held_out, task), loss_name(result["scoring"]), task)


def _front(result: Mapping[str, Any]) -> list[str]:
    """List the Pareto front, with its knee and the selected subset marked."""
    front = result["front"]
    name = loss_name(result["scoring"])
    is_error = name == "error"
    rows = [("SIZE", "ERROR" if is_error else "LOSS", "", "FEATURES")]
    for at, point in enumerate(front["points"]):
        is_chosen = point["selected_indices"] == result["selected_indices"]
        marks = ["knee"] * (at == front["knee"]) + ["selected"] * is_chosen
        names = printable(listed(point["selected"], 3))
        rows.append((str(point["size"]), f"{point['loss']:.4f}", ", ".join(marks), names))
    subsets = counted(len(front["points"]), "subset")
    # Errors in the unit of the target have no upper limit to count an area from.
    has_area = result["scoring"] not in ERRORS
    area = f", hypervolume {front['hypervolume']:.4f}" if has_area else ""
    what = "error" if is_error else f"loss ({name})"
    summary = f"{subsets}, non-dominated in {what} and size{area}"
    return ["", line("Pareto front", summary), *(f"  {row}" for row in aligned(rows))]


def _chosen(result: Mapping[str, Any]) -> list[str]:
    """List the selected features, in as many columns as the terminal holds."""
    total = result["data"]["features"]
    last = str(total - 1)
    cells = [
        f"{index:>{len(last)}}  {printable(name)}"
        for index, name in zip(result["selected_indices"], result["selected"], strict=True)
    ]
    width = max(map(len, cells), default=0) + 4
    n_columns = max(1, (shutil.get_terminal_size().columns - 2) // width)
    n_lines = -(-len(cells) // n_columns)
    lines = ("".join(f"{cell:<{width}}" for cell in cells[at::n_lines]) for at in range(n_lines))
    return [
        line("selected", f"{len(cells)} of {counted(total, 'feature')}"),
        *(f"  {line}".rstrip() for line in lines),
    ]


def _pairs(values: Sequence[str]) -> list[str]:
    return [f"{code} {shortened(value)}" for code, value in enumerate(values)]


def _codes(codes: Mapping[str, Sequence[str]]) -> list[str]:
    """List what the codes of chosen columns of text stand for."""
    return [
        line("codes", f"{shortened(name)}: {listed(_pairs(values))}")
        for name, values in codes.items()
    ]


def _groups(groups: Sequence[Sequence[str]]) -> list[str]:
    """List the members of groups, in as many lines as the terminal asks for."""
    rows = [("GROUP", "SIZE", "FEATURES")]
    width = max(40, shutil.get_terminal_size().columns - len("GROUP  SIZE  "))
    for number, group in enumerate(groups, start=1):
        lines = [""]
        for place, name in enumerate(map(printable, group), start=1):
            cell = name if place == len(group) else f"{name}, "
            if lines[-1] and len(lines[-1]) + len(cell.rstrip()) > width:
                lines.append("")
            lines[-1] += cell
        rows.append((str(number), str(len(group)), lines[0]))
        rows += [("", "", line) for line in lines[1:]]
    return aligned(rows)


def _curve(curve: Sequence[Mapping[str, Any]], criterion: str | None) -> list[str]:
    """List the numbers of groups tried, each with the best number of row groups beside it."""
    if criterion is None or not curve:
        return []
    sign = -1 if criterion == "silhouette" else 1
    best: dict[int, Mapping[str, Any]] = {}
    for point in sorted(curve, key=lambda point: sign * point["value"]):
        best.setdefault(point["n_groups"], point)
    has_rows = curve[0]["n_row_groups"] is not None
    rows = [("GROUPS", *(["ROW GROUPS"] if has_rows else []), criterion.upper(), "")]
    for number, point in sorted(best.items()):
        beside = [str(point["n_row_groups"])] if has_rows else []
        mark = "chosen" if point["is_chosen"] else ""
        rows.append((str(number), *beside, f"{point['value']:.4f}", mark))
    return ["", *aligned(rows)]
