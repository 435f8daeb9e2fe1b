"""Reports: whole, the same bytes every time, and inert whatever names they show."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from importlib import util
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import swarmrs
from experiment_cells import cell, failed, frame, made_comparison
from swarmrs.exceptions import OutputError, SpecError
from swarmrs.experiments._report import write_report, write_selection_report
from swarmrs.experiments._report._drawing import (
    Drawing,
    count_ticks,
    drawing,
    new_figure,
    settle,
    shown,
    slug,
)
from swarmrs.experiments._report._page import _shown
from swarmrs.experiments._report._rank_figure import alike
from swarmrs.experiments._report._svg import Sheet, as_svg

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</title></style><svg onload=alert(1)>",
    "\"' onmouseover='alert(1)' x=\"",
    "{{ 7 * 7 }}{% raw %}",
    "$\\frac{1}{$ _^ \\notacommand $x$",
    "_leading underscore",
    "\u202eright to left\u202c\u0000\u0007\x1b[31m",
    "x" * 10_000,
    "&lt;b&gt; ]]> -->",
    "日本語の列 🦀",
    "",
]


class Page(HTMLParser):
    """What a browser would find: elements, attributes, ids and text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self.is_in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        self.is_in_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self.is_in_script = False

    def handle_data(self, data: str) -> None:
        (self.scripts if self.is_in_script else self.text).append(data)

    def ids(self) -> list[str | None]:
        return [value for name, value in self.attributes if name == "id"]


def assert_inert(text: str) -> None:
    """Check that the page runs its own script and no other, and asks nobody for anything."""
    page = Page(text)
    assert page.elements.count("script") == 1
    assert page.elements.count("title") == 1 + page.elements.count("svg")
    assert not {"img", "iframe", "object", "embed", "link", "base", "form"} & {*page.elements}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    addresses = [value or "" for name, value in page.attributes if name in ("href", "src")]
    assert all(value.startswith(("#", "data:image/png;base64,")) for value in addresses)
    assert len(page.ids()) == len({*page.ids()})
    assert {value[1:] for value in addresses if value[0] == "#"} <= {*page.ids()}
    (script,) = page.scripts
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    rules = policy[1].replace("&#39;", "'").split("; ")
    assert rules[:4] == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        f"script-src 'sha256-{digest}'",
    ]


SETTINGS: dict[str, object] = {
    "command": ["swarmrs", "compare", "a b.csv"],
    "protocol": "cv10",
    "preset": None,
    "versions": {"swarmrs": "0.1.0"},
}


@pytest.fixture(scope="module")
def cells() -> pl.DataFrame:
    made = made_comparison(["wine", "zoo"], ["ga", "aco", "bpso", "sfs"])
    broken = failed("wine", "ga", 9, 0, "DataError: one class") | {"params": made["params"][0]}
    return pl.concat([made, frame([broken])])


@pytest.fixture(scope="module")
def report(cells: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(cells, SETTINGS, path)
    return path


@pytest.fixture(scope="module")
def selection() -> swarmrs.Selection:
    found: swarmrs.Selection = swarmrs.select(
        "sklearn:wine", algo="bpso", random_state=1, max_evals=300
    )
    return found


def test_the_report_of_a_comparison_has_all_its_parts(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert_inert(text)
    page = Page(text)
    shown_text = " ".join(" ".join(page.text).split())
    # A rank figure, the times, and four figures for each of two data sets.
    assert page.elements.count("svg") == page.elements.count("figcaption") == 2 + 2 * 4
    for part in (
        "Convergence",
        "Error and size",
        "Spread of",
        "Features selected",
        "Average ranks",
    ):
        assert part in shown_text
    assert "swarmrs compare 'a b.csv'" in shown_text
    assert "DataError: one class" in shown_text
    assert "1 cell of 81 not finished" in shown_text
    assert "Friedman" in shown_text


def test_the_same_cells_in_any_order_give_the_same_bytes(
    report: Path, cells: pl.DataFrame, tmp_path: Path
) -> None:
    shuffled = cells.sample(fraction=1, shuffle=True, seed=8)
    reordered = dict(reversed(SETTINGS.items()))
    write_report(shuffled, reordered, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


def test_figures_are_files_and_the_same_bytes(cells: pl.DataFrame, tmp_path: Path) -> None:
    some = cells.filter(pl.col("data") == "wine")
    for name in ("one", "other"):
        write_report(some, SETTINGS, None, figures=tmp_path / name)
    files = sorted((tmp_path / "one").iterdir())
    assert [path.name for path in files] == sorted(
        f"{name}.{kind}"
        for name in (
            *("ranks", "timing", "convergence-wine", "tradeoff-wine", "boxes-wine"),
            "chosen-wine",
        )
        for kind in ("pdf", "png")
    )
    for path in files:
        content = path.read_bytes()
        assert content.startswith(b"%PDF" if path.suffix == ".pdf" else b"\x89PNG")
        assert content == (tmp_path / "other" / path.name).read_bytes()


def test_settings_of_matplotlib_do_not_matter(selection: swarmrs.Selection, tmp_path: Path) -> None:
    import matplotlib as mpl

    write_selection_report(selection, tmp_path / "one.html")
    with mpl.rc_context({"font.size": 20, "axes.grid": False, "lines.linewidth": 9}):
        write_selection_report(selection, tmp_path / "other.html")
        assert mpl.rcParams["font.size"] == 20
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_hostile_names_are_shown_and_do_nothing(tmp_path: Path) -> None:
    tables = [HOSTILE[at] for at in (0, 3, 5, 7, 8, -1)]
    made = made_comparison(tables, HOSTILE, runs=2, folds=1, columns=HOSTILE, iterations=3)
    broken = [failed(name, name, 9, 0, name) for name in HOSTILE]
    settings: dict[str, object] = {name: [name, {name: name}] for name in HOSTILE}
    settings["command"] = ["swarmrs", *HOSTILE]
    path = tmp_path / "report.html"
    write_report(pl.concat([made, frame(broken)]), settings, path)
    text = path.read_text(encoding="utf-8")
    assert_inert(text)
    assert Page(text).elements.count("svg") == 2 + 4 * len(tables)
    shown_text = "".join(Page(text).text)
    assert "{{ 7 * 7 }}{% raw %}" in shown_text
    assert "日本語の列 🦀" in shown_text
    assert not set("\u202e\u202c\x00\x07\x1b") & set(text)
    # Ten thousand letters are cut wherever they stand, but once in full in the command.
    assert [len(found) for found in re.findall("x{301,}", text)] == [10_000]
    assert len(text) < 1_500_000


def test_hostile_columns_of_one_search_do_nothing(tmp_path: Path) -> None:
    names = [name or "none" for name in HOSTILE]
    wine = swarmrs.read_table("sklearn:wine")
    table = pl.DataFrame(dict(zip(names, wine.x.T, strict=False))).with_columns(
        pl.Series("<y>", wine.y)
    )
    found = swarmrs.select(table, "<y>", algo="sfs", max_features=8, random_state=0)
    write_selection_report(found, tmp_path / "report.html", command=HOSTILE)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert_inert(text)


def test_the_report_of_a_search(selection: swarmrs.Selection, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_selection_report(selection, path, command="swarmrs select sklearn:wine")
    text = path.read_text(encoding="utf-8")
    assert_inert(text)
    shown_text = " ".join(" ".join(Page(text).text).split())
    assert f"bpso selected {selection.size} of 13 features of sklearn:wine" in shown_text
    assert "optimistic" in shown_text
    assert f"{selection.cost:.4f}" in shown_text
    for name in selection.selected:
        assert shown(name) in shown_text
    assert "has not seen. The majority class" in shown_text
    assert "s evaluating); stopped:" in shown_text


def test_the_report_of_a_competition(tmp_path: Path) -> None:
    found = swarmrs.select("sklearn:wine", algo="auto", max_evals=3000, random_state=1)
    assert found.competition is not None
    path = tmp_path / "report.html"
    write_selection_report(found, path)
    text = path.read_text(encoding="utf-8")
    assert_inert(text)
    shown_text = " ".join(" ".join(Page(text).text).split())
    assert f"{found.competition.method} has the best mean score" in shown_text
    low, high = found.competition.interval
    assert f"{found.competition.score:.4f}" in shown_text
    assert f"95 % interval {low:.4f} to {high:.4f}" in shown_text
    for method in found.competition.frame["method"].unique():
        assert method in shown_text
    assert titles(path) == ["Methods and sizes"]
    # The methods search at the same time; nothing tells their own time from that of evaluations.
    assert re.search(r"unique\) in [\d.]+ s; stopped:", shown_text)


def test_a_setting_without_parts_is_none() -> None:
    assert _shown({"budget": {}, "size": 3, "labels": None}) == "budget none, size 3"


@pytest.mark.parametrize("command", ["select", "report"])
def test_the_help_names_the_extra_that_a_page_needs(command: str, cli: Callable[..., Any]) -> None:
    help_text = " ".join(cli(command, "--help").out.split())
    assert "figures: html. Needs swarmrs[report]." in help_text


def test_a_search_by_a_scorer_from_outside_has_a_report(tmp_path: Path) -> None:
    found = swarmrs.select(
        "sklearn:wine",
        scorer=lambda masks: [0.5 + mask.sum() / 100 for mask in masks],
        random_state=1,
        max_evals=100,
    )
    write_selection_report(found, tmp_path / "report.html")
    assert_inert((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_cells_without_traces_tests_or_folds_have_a_report(tmp_path: Path) -> None:
    known: dict[str, Any] = {"train_error": 0.25, "train_cost": 0.25, "fold": None}
    write_report(frame([cell("wine", "ga", 1, **known)]), {}, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert_inert(text)
    assert "Convergence" not in text


def test_a_large_comparison_fits_in_half_a_megabyte(tmp_path: Path) -> None:
    datasets = [f"table {number}" for number in range(4)]
    methods = [f"method {number}" for number in range(30)]
    columns = [f"feature {number}" for number in range(60)]
    made = made_comparison(datasets, methods, runs=30, folds=1, columns=columns, iterations=50)
    write_report(made, SETTINGS, tmp_path / "report.html")
    # Four of ten data sets of the target: 30 methods, 10 data sets, 30 seeds in 0.5 MB.
    assert (tmp_path / "report.html").stat().st_size < 220_000


@pytest.mark.parametrize("package", ["matplotlib", "jinja2", "markupsafe"])
def test_without_a_package_of_reports_their_extra_is_named(
    package: str, cells: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = util.find_spec

    def without(name: str) -> Any:
        return None if name == package else find(name)

    monkeypatch.setattr("swarmrs._base._extras.find_spec", without)
    with pytest.raises(SpecError, match=f"need {package}, which is not") as problem:
        write_report(cells, SETTINGS, tmp_path / "report.html")
    assert problem.value.hint == "pip install 'swarmrs[report]'"
    assert not (tmp_path / "report.html").exists()


def test_a_page_that_cannot_be_written_is_one_error(cells: pl.DataFrame, tmp_path: Path) -> None:
    cells = cells.filter(pl.col("data") == "wine")
    with pytest.raises(OutputError, match="cannot be written"):
        write_report(cells, SETTINGS, tmp_path / "missing" / "report.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="cannot be made"):
        write_report(cells, SETTINGS, None, figures=tmp_path / "file")


def test_select_writes_a_report(cli: Callable[..., Any], tmp_path: Path) -> None:
    words = ("select", "sklearn:iris", "--algo", "sfs", "--report", tmp_path / "found.html", "-q")
    assert cli(*words).code == 0
    assert_inert((tmp_path / "found.html").read_text(encoding="utf-8"))
    again = cli(*words)
    assert (again.code, "exists" in again.err) == (2, True)
    assert cli(*words[:-2], tmp_path / "found.pdf").code == 2


def test_report_writes_a_page_and_figures(
    cli: Callable[..., Any], blobs_csv: Path, tmp_path: Path
) -> None:
    store, page = tmp_path / "r.db", tmp_path / "report.html"
    quick = ("--runs", 2, "--protocol", "split70", "--max-evals", 60, "-q", "--store", store)
    assert cli("compare", blobs_csv, "--algos", "bpso,all", *quick).code == 0
    words = ("report", store, "-o", page, "--figures", tmp_path / "figures", "-f", "json")
    done = cli(*words, "--measure", "size", "--reference", "all")
    assert done.code == 0
    found = json.loads(done.out)["summary"]
    assert (found["measure"], found["reference"]) == ("size", "all")
    text = page.read_text(encoding="utf-8")
    assert_inert(text)
    assert "Spread of size on blobs" in text
    assert len(list((tmp_path / "figures").iterdir())) == 12
    assert cli(*words).code == 2
    assert cli("report", store, "--measure", "sizes").err.startswith("error: unknown measure")


@pytest.mark.usefixtures("failing_bpso")
def test_a_store_without_a_finished_run_has_nothing_to_compare(
    cli: Callable[..., Any], blobs_csv: Path, tmp_path: Path
) -> None:
    store = tmp_path / "r.db"
    some = ("--runs", 1, "--protocol", "split70", "-q", "--store", store, "--max-evals", 10)
    done = cli("compare", blobs_csv, "--algos", "bpso", *some)
    assert done.code == 3
    assert done.out == "nothing to compare yet: no cell is finished\n"
    assert json.loads(cli("report", store, "-f", "json").out)["summary"] is None
    assert cli("report", store, "-o", tmp_path / "report.html").code == 1


def test_ids_of_figures_do_not_meet() -> None:
    with drawing():
        sheet, texts = Sheet(), []
        for name in ("one", "other"):
            figure = new_figure(3, 2)
            figure.subplots().plot([1, 2], [1, 2], "o")
            settle(figure)
            texts.append(as_svg(Drawing(name, name, "", figure), sheet))
    first, second = (set(re.findall(r' id="([^"]+)"', text)) for text in texts)
    assert first
    assert not first & second
    for text, ids in zip(texts, (first, second), strict=True):
        assert set(re.findall(r"#([\w-]+)", text)) == ids


def test_names_of_files_are_tame_and_different() -> None:
    assert slug("boxes-wine") == "boxes-wine"
    hostile = [
        slug(f"boxes-{name}") for name in ("../../etc", "..", "a/b", "a b", "\x00", "x" * 999)
    ]
    assert len({*hostile}) == len(hostile)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name) for name in hostile)


def test_bars_join_what_cannot_be_told_apart() -> None:
    assert alike([1.0, 2.0, 3.0], 5) == [(0, 2)]
    assert alike([1.0, 2.0, 3.0], 0.5) == []
    assert alike([1.0, 1.5, 2.4, 4.0], 1) == [(0, 1), (1, 2)]
    assert alike([2.0, 2.0], 0) == [(0, 1)]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_opens_the_report_and_runs_nothing_of_the_data(tmp_path: Path) -> None:
    made = made_comparison(["wine", HOSTILE[0]], HOSTILE[:4], runs=3, columns=HOSTILE, iterations=5)
    path = tmp_path / "report.html"
    write_report(made, {"command": HOSTILE}, path)
    assert CHROMIUM is not None
    browser = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,1600"),
    ]
    picture = tmp_path / "picture.png"
    taken = subprocess.run(
        [*browser, f"--screenshot={picture}", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert taken.returncode == 0, taken.stderr
    assert picture.stat().st_size > 20_000
    assert "CONSOLE" not in taken.stderr, taken.stderr
    found = subprocess.run(
        [*browser, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=100
    )
    page = Page(found.stdout)
    assert page.elements.count("script") == 1
    # Our own script ran: it puts a button into every head of a table that can be sorted.
    assert page.elements.count("button") > 10
    assert "CONSOLE" not in found.stderr, found.stderr


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1100, 500])
def test_all_columns_of_the_results_can_be_reached(tmp_path: Path, width: int) -> None:
    names = [f"sklearn:{name}" for name in ("breast_cancer", "iris", "wine")]
    path = tmp_path / "report.html"
    write_report(made_comparison(names, ["ga", "vlpso-ls", "all"], runs=3), SETTINGS, path)
    text = re.sub(r"<meta http-equiv=[^>]+>", "", path.read_text(encoding="utf-8"))
    probe = """<script>
    const scroll = document.querySelector(".scroll"), heads = [...scroll.querySelectorAll("th")];
    const effect = heads.find((head) => head.textContent === "Effect").getBoundingClientRect();
    document.body.dataset.found = JSON.stringify({
      effect: effect.right, visible: scroll.getBoundingClientRect().right, page: innerWidth,
      whole: document.documentElement.scrollWidth, style: getComputedStyle(scroll).overflowX,
    });
    </script></body>"""
    path.write_text(text.replace("</body>", probe), encoding="utf-8")
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *(f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1000"),
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=100,
    )
    attribute = dict(Page(done.stdout).attributes)["data-found"]
    assert attribute is not None
    found = json.loads(attribute)
    # The page itself never scrolls sideways; a table does, where it must.
    assert found["whole"] <= found["page"] == width
    assert found["style"] == "auto"
    if width == 1100:
        assert found["effect"] <= found["visible"]


def titles(path: Path) -> list[str]:
    return re.findall(r"<h3>(.*?)</h3>", path.read_text(encoding="utf-8"))


def test_one_run_of_one_iteration_has_no_empty_figure(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    once = [
        cell("wine", name, 1, test_error=error, test_accuracy=1 - error, trace=[step])
        for name, error in (("ga", 0.1), ("all", 0.2))
        for step in ({"evaluations": 20, "best_cost": error, "best_size": 3},)
    ]
    write_report(frame(once), SETTINGS, path)
    assert titles(path) == [
        "Error and size on wine",
        "Features selected on wine",
        "Time of a search",
    ]
    text = path.read_text(encoding="utf-8")
    assert "over 1 run." in text
    assert "1 runs" not in text
    untimed = [each | {"seconds": 0.0, "seconds_search": 0.0} for each in once]
    write_report(frame([each | {"seconds_evaluate": 0.0} for each in untimed]), SETTINGS, path)
    assert "Time of a search" not in titles(path)
    assert_inert(path.read_text(encoding="utf-8"))


def test_a_filter_has_a_report_without_curves(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_selection_report(swarmrs.select("sklearn:iris", algo="cfs", random_state=1), path)
    text = path.read_text(encoding="utf-8")
    assert titles(path) == []
    assert "The search" not in text
    assert "1 evaluation (1 unique)" in text
    assert "1 subset that none tried beats" in text
    assert "1 subsets" not in text


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (1, 9), (3, 240)])
def test_counts_are_marked_at_whole_numbers(sizes: tuple[int, int]) -> None:
    with drawing():
        axes = new_figure(5, 3).subplots()
        axes.plot(sizes, [0.1, 0.2], "o")
        count_ticks(axes.xaxis)
        ticks = axes.get_xticks()
    assert len(ticks) > 0
    assert (ticks == ticks.round()).all()


def test_the_script_and_style_have_no_address() -> None:
    folder = Path(swarmrs.__file__).parent / "experiments" / "_report"
    for name in ("style.css", "tables.js"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "//" not in text.replace("// ", "")
        assert "</" not in text
        assert len(text) < 10_000
