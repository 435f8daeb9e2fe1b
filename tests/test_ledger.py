"""The ledger: a file that survives a kill, work breadth first, verdicts worked out by hand."""

import json
from pathlib import Path
from typing import Any

import ledger as command
import pytest
from scipy.stats import t
from swarmrs.exceptions import SpecError, StoreError
from swarmrs.experiments._papers import PAPERS
from swarmrs.experiments._papers._ledger._claims import Claim, claims_of
from swarmrs.experiments._papers._ledger._file import Entry, Ledger, hours
from swarmrs.experiments._papers._ledger._lines import Compared, Study
from swarmrs.experiments._papers._ledger._page import blocks, fill
from swarmrs.experiments._papers._ledger._work import (
    Job,
    check,
    complete,
    in_order,
    plan_work,
)


def made(cell: str, **values: Any) -> Entry:
    given = {"size": 5, "error": 0.1, "accuracy": 0.9, "train_accuracy": None, "evaluations": 100}
    given |= {"unique": 90, "seconds_search": 0.25, "seconds_evaluate": 0.75, "finished": 1000}
    return Entry(cell=cell, **(given | {"key": "k", "digest": "d", "subset": ""} | values))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results" / "ledger.jsonl"


def work(ledger: Ledger) -> list[Job]:
    """Return the ten runs of CD-BPSO on wine, which scikit-learn has."""
    return plan_work(["chuang2012"], None, ledger, datasets=["wine"])


def same(first: Ledger, second: Ledger) -> bool:
    return [*first.entries] == [*second.entries] and all(
        entry.is_same(second.entries[cell]) for cell, entry in first.entries.items()
    )


def test_a_later_call_goes_on_where_a_killed_one_stopped(path: Path, tmp_path: Path) -> None:
    whole = Ledger(tmp_path / "whole.jsonl")
    assert complete(in_order(work(whole), whole), whole) == []
    assert len(whole.entries) == 10
    first = Ledger(path)
    complete(in_order(work(first), first)[:4], first)
    # Killed while the fourth was being written.
    path.write_bytes(path.read_bytes()[:-20])
    again = Ledger(path)
    assert len(again.entries) == 3
    missing = in_order(work(again), again)
    assert len(missing) == 7
    complete(missing, again, workers=2)
    assert same(Ledger(path), again)
    assert {*again.entries} == {*whole.entries}
    assert all(entry.is_same(whole.entries[cell]) for cell, entry in again.entries.items())
    assert in_order(work(again), again) == []


def test_two_processes_add_to_one_file(path: Path) -> None:
    first, second = Ledger(path), Ledger(path)
    for ledger, cell in ((first, "a"), (second, "b"), (first, "c")):
        ledger.add(made(cell))
    assert [*Ledger(path).entries] == ["a", "b", "c"]


def test_a_line_that_is_damaged_is_no_torn_one(path: Path) -> None:
    ledger = Ledger(path)
    ledger.add(made("a"))
    ledger.add({"study/data": {"features": 3.0}})
    path.write_bytes(path.read_bytes().replace(b"[", b"(", 1))
    with pytest.raises(StoreError, match=r"line 1 of .* cannot be read"):
        Ledger(path)
    path.write_bytes(b"3\n")
    with pytest.raises(StoreError, match="neither an entry nor facts"):
        Ledger(path)


def test_a_cell_of_other_settings_is_run_again(path: Path) -> None:
    ledger = Ledger(path)
    job = in_order(work(ledger), ledger)[0]
    complete([job], ledger)
    stale = ledger.entries[job.id]._replace(key="of another version")
    ledger.add(stale)
    assert not job.is_done(ledger)
    assert in_order(work(ledger), ledger)[0].id == job.id


def test_time_that_is_over_starts_no_search(path: Path) -> None:
    ledger = Ledger(path)
    assert complete(in_order(work(ledger), ledger), ledger, hours=0.0) == []
    assert ledger.entries == {}
    assert ledger.facts == {
        "chuang2012/wine": pytest.approx(
            {
                **{"features": 13, "rows": 178, "classes": 3},
                **{"smallest_class": 100 * 48 / 178, "largest_class": 100 * 71 / 178},
            }
        )
    }


def test_methods_get_the_same_share_of_time_and_runs_take_turns_on_splits(path: Path) -> None:
    ledger = Ledger(path)
    jobs = plan_work(["xue2016"], None, ledger, datasets=["wine"])
    # An expensive method, by what the ledger knows of it.
    ledger.add(made("xue2016/plain/wine/psofs/1/99/0", seconds_search=1e6))
    ordered = in_order(jobs, ledger)
    # Of the others, which nothing is known of, one has no second run before all have a first.
    cheap, costly = ordered[:-40], ordered[-40:]
    assert {job.cell.method for job in costly} == {"psofs"}
    assert [job.turn for job in cheap] == sorted(job.turn for job in cheap)
    first = [job.cell.method for job in cheap if job.turn == 1]
    assert sorted(first) == ["all", "gsbs", "igpso", "lfs", "psorws"]
    # Six runs of one cost as much as two of another.
    ledger.add(made("xue2016/grouped/wine/psorws/1/99/0", seconds_search=1.0, seconds_evaluate=0))
    ledger.add(made("xue2016/grouped/wine/igpso/1/99/0", seconds_search=2.9, seconds_evaluate=0))
    turns = [
        (job.cell.method, job.turn) for job in in_order(jobs, ledger) if job.setup.name == "grouped"
    ]
    at = turns.index(("igpso", 2))
    assert (turns[at - 1], turns[at + 1]) == (("psorws", 5), ("psorws", 6))
    for job in ordered:
        assert job.cell.split_seed == (job.turn - 1) % 5 + 1
        assert job.cell.seed == (1 if job.cell.method in ("all", "lfs", "gsbs") else job.turn)
    by_method = [job.cell.method for job in ordered]
    assert (by_method.count("igpso"), by_method.count("lfs")) == (40, 5)


def test_five_cells_are_found_again_and_a_tampered_one_is_not(path: Path) -> None:
    ledger = Ledger(path)
    jobs = work(ledger)
    with pytest.raises(SpecError, match="no such cell"):
        list(check(ledger, None))
    complete(in_order(jobs, ledger)[:3], ledger)
    assert [found for _, found in check(ledger, None, cells=2)] == [[True, True]] * 2
    with pytest.raises(SpecError, match="no such cell"):
        list(check(ledger, None, begins="hafiz2018/"))
    cell = next(iter(ledger.entries))
    ledger.add(ledger.entries[cell]._replace(accuracy=1.0))
    found = dict(check(Ledger(path), None))
    assert found.pop(cell) == [False, False]
    assert all(map(all, found.values()))
    ledger.add(made("chuang2012/loo/wine/of-old/1/1/0"))
    with pytest.raises(SpecError, match="of-old/1/1/0' cannot be run"):
        list(check(ledger, None, begins="chuang2012/loo/wine/of-old"))


def test_the_command_prints_a_small_store_without_data(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(path)
    complete(in_order(work(ledger), ledger)[:2], ledger)
    how = ["--store", str(path), "--data", str(path.parent / "absent")]
    assert command.main([*how, "--print-only", "--study", "chuang2012"]) == 0
    printed = capsys.readouterr().out
    assert "| wine | CD-BPSO | accuracy % | 99.44 |" in printed
    assert "| 2/10 |" in printed
    cell = next(iter(ledger.entries))
    data = ["--store", str(path), "--data", str(path.parent)]
    assert command.main([*data, "--check", "--cell", cell]) == 0
    assert f"| {cell} | same | same |" in capsys.readouterr().out
    ledger.add(ledger.entries[cell]._replace(digest="another"))
    assert command.main([*data, "--check", "--cell", cell]) == 1
    assert f"| {cell} | DIFFERENT | DIFFERENT |" in capsys.readouterr().out


def test_the_pages_are_what_the_command_writes() -> None:
    kept = Ledger(Path(__file__).parents[1] / "benches" / "results" / "ledger.jsonl")
    parts = blocks(kept)
    pages = [page.read_text(encoding="utf-8") for page in command.PAGES]
    for page in pages:
        assert fill(page, parts) == page, "run make ledger ARGS='--print-only --write'"
    assert all(sum(f"<!-- ledger: {part} -->" in page for page in pages) == 1 for part in parts)
    assert kept.path.stat().st_size < 8e6


def compared(ledger: Ledger, study: str, number: str) -> dict[tuple[str, str, str], Compared]:
    (table,) = PAPERS[study].find(number)
    figures = Study.of(PAPERS[study], ledger).compare(table)
    return {(it.line.data, it.line.method, it.line.figure): it for it in figures}


def test_a_figure_over_splits_is_as_worked_out(path: Path) -> None:
    ledger = Ledger(path)
    # Published: size 8.32, best accuracy 97.53, accuracy 95.96 with a deviation of 1.87.
    for deal, accuracies in enumerate([(94, 96), (95, 97), (96, 98), (97, 99), (98, 100)], 1):
        for at, percent in enumerate(accuracies):
            cell = f"xue2016/plain/wine/psofs/{deal}/{deal + 5 * at}/0"
            ledger.add(made(cell, accuracy=percent / 100, size=8 + deal))
        ledger.add(made(f"xue2016/plain/wine/all/{deal}/1/0", accuracy=0.5, size=13))
    found = compared(ledger, "xue2016", "II")
    accuracy = found["wine", "PSOFS", "accuracy"]
    assert accuracy.line.ours == pytest.approx(97)
    assert accuracy.line.ours_sd == pytest.approx(2**0.5)
    assert accuracy.deals == pytest.approx((95, 96, 97, 98, 99))
    assert (accuracy.line.verdict, accuracy.line.detail) == ("agrees", "within 0.56 sd")
    assert (accuracy.line.runs, accuracy.wanted) == (10, 40)
    assert accuracy.is_inside
    # Sizes 9 to 13 have the mean 11: t = (2.68 - 0.005) / sqrt(2.5 * 6 / 5) = 1.5444 with 4 degrees
    # of freedom. It is the least p of three: two figures of PSOFS, and the size of all features.
    size = found["wine", "PSOFS", "size"]
    assert size.line.verdict == "larger"
    assert (size.is_inside, size.is_significant) == (False, False)
    assert sum(it.p is not None for it in found.values()) == 3
    assert size.p == pytest.approx(3 * 2 * t.sf(1.5444, 4), rel=1e-4)
    assert found["wine", "All", "size"].p == 1
    # All runs, paired by split and seed: 10 of 10 are better than all features.
    assert found["wine", "PSOFS", "vs_all"].line.ours == "+"
    everything = found["wine", "All", "accuracy"]
    assert (everything.line.runs, everything.wanted, everything.p) == (5, 5, None)
    assert everything.line.verdict == "worse"
    cells = accuracy.cells()
    assert cells[3:7] == ["95.96 ± 1.87", "97.00 ± 1.41", "95.00 to 99.00", "+1.04"]
    assert cells[-1] == "10/40"
    # The best of ten runs is no counterpart of the best of 40.
    best = found["wine", "PSOFS", "best_accuracy"]
    assert (best.line.verdict, best.line.difference, best.p) == ("", None, None)


def test_the_best_of_all_runs_is_that_of_as_many_on_each_deal(path: Path) -> None:
    ledger = Ledger(path)
    for run in range(1, 41):
        deal = (run - 1) % 5 + 1
        # Deals have the means 91 to 95; in the third, one run is 3.5 above its mean.
        percent = 90 + deal + (3.5 if run == 3 else -0.5 if deal == 3 else 0)
        ledger.add(made(f"xue2016/plain/wine/psofs/{deal}/{run}/0", accuracy=percent / 100))
    best = compared(ledger, "xue2016", "II")["wine", "PSOFS", "best_accuracy"]
    excess = 3.5 * (8 / 7) ** 0.5
    assert best.deals == pytest.approx([91 + at + excess for at in range(5)])
    assert best.line.ours == pytest.approx(93 + excess)
    assert (best.line.verdict, best.line.runs) == ("agrees", 40)


def test_two_means_over_runs_are_tested_where_rows_have_one_deal(path: Path) -> None:
    ledger = Ledger(path)
    # Published for CD-BPSO: 99.44 without a deviation; here over 10 runs.
    for run, value in enumerate((0.97, 0.975, 0.98, 0.985), 1):
        ledger.add(made(f"chuang2012/loo/wine/cdbpso/1/{run}/0", accuracy=value))
    found = compared(ledger, "chuang2012", "2")
    accuracy = found["wine", "CD-BPSO", "accuracy"]
    assert accuracy.line.ours == pytest.approx(97.75)
    assert accuracy.deals == ()
    # Welch: gap 1.69 - 0.005; both deviations are ours, 0.6455, so that the standard errors are
    # 0.6455 / 2 and 0.6455 / sqrt(10), and t = 4.4124 with 5.5823 degrees of freedom.
    assert accuracy.p == pytest.approx(2 * t.sf(4.4124, 5.5823), rel=1e-3)
    assert accuracy.is_significant


def test_where_the_search_sees_all_rows_runs_take_turns_on_folds(path: Path) -> None:
    ledger = Ledger(path)
    jobs = plan_work(["hafiz2018"], None, ledger, datasets=["wine"])
    assert {job.plan.experiment.options["cv_seed"] for job in jobs} == {0, 1, 2, 3, 4}
    for job in jobs:
        deal = int(job.id.split("/")[4])
        assert job.plan.experiment.options["cv_seed"] == deal - 1 == (job.turn - 1) % 5
    assert len({job.cell.key for job in jobs}) == len(jobs) == 2 * 8 * 40
    # The error of all features depends on folds, too; the improvement is over that on the same.
    of_all = [ledger.facts[f"hafiz2018/wine{deal}"]["all_error_knn"] for deal in ("", "/2")]
    assert of_all[0] != of_all[1]
    for run, error in enumerate((0.05, 0.08), 1):
        ledger.add(made(f"hafiz2018/knn/wine/ga/{run}/{run}/0", error=error))
    found = compared(ledger, "hafiz2018", "4")
    gains = [100 * (whole - ga) / whole for whole, ga in zip(of_all, (0.05, 0.08), strict=True)]
    assert found["wine", "GA", "improvement"].deals == pytest.approx(gains)
    assert found["wine", "GA", "error"].deals == pytest.approx((0.05, 0.08))
    assert found["wine", "ACO", "error"].line.ours is None
    assert found["wine", "ACO", "error"].cells()[-1] == ""
    facts = compared(ledger, "hafiz2018", "1")["wine", "", "all_error_knn"]
    assert len(facts.deals) == 5
    assert facts.line.ours == pytest.approx(sum(facts.deals) / 5)
    assert facts.wanted is None


@pytest.mark.parametrize(("sign", "verdict"), [(1, "holds"), (-1, "contradicted")])
def test_a_claim_holds_or_is_contradicted(path: Path, sign: int, verdict: str) -> None:
    ledger = Ledger(path)
    (table,) = PAPERS["hafiz2018"].find("4")
    for at, data in enumerate(table.data):
        ledger.add(made(f"hafiz2018/knn/{data}/ga/1/1/0", error=0.3))
        gain = sign * (0.1 + at / 1000)
        ledger.add(made(f"hafiz2018/knn/{data}/upso2d/1/1/0", error=0.3 - gain, evaluations=200))
    claims = claims_of(Study.of(PAPERS["hafiz2018"], ledger))
    errors = [claim for claim in claims if claim.figure == "error"]
    assert [(claim.table, claim.method, claim.rival) for claim in errors] == [
        ("hafiz2018-4", "2D-UPSO", "GA")
    ]
    claim = errors[0]
    assert claim.verdict == verdict
    assert claim.ours == ((16, 0, 0) if sign > 0 else (0, 0, 16))
    # All sixteen differences have one sign; GA is the only rival that has runs.
    assert claim.p == claim.ours_test.p == pytest.approx(2 / 2**16)
    assert claim.evaluations == pytest.approx(2)
    assert not claim.has_equal_budget
    assert claim.difference == pytest.approx(-sign * 0.1075)
    (size,) = (it for it in claims if it.figure == "size")
    assert isinstance(size, Claim)
    assert (size.ours, size.verdict) == ((0, 16, 0), "not confirmed")


def test_claims_are_corrected_for_the_rivals_of_a_method_and_times_are_ratios(path: Path) -> None:
    ledger = Ledger(path)
    (table,) = PAPERS["hafiz2018"].find("9")
    rivals = {"ga": 0.2, "aco": 0.4, "bpso": 0.8}
    for at, data in enumerate(table.data):
        for algo, error in ({"upso2d": 0.1} | rivals).items():
            # No two differences are equal, so that the test is exact.
            own = 0 if algo == "upso2d" else at / 1000
            scores = {"error": error + own, "seconds_evaluate": 5 * error + own}
            ledger.add(made(f"hafiz2018/knn/{data}/{algo}/1/1/0", **scores, seconds_search=0.0))
    claims = claims_of(Study.of(PAPERS["hafiz2018"], ledger))
    errors = [it for it in claims if it.figure == "error"]
    assert [it.p for it in errors] == pytest.approx([3 * 2 / 2**16] * 3)
    assert all(it.has_equal_budget and not it.is_timed for it in errors)
    times = {it.rival: it for it in claims if it.figure == "seconds"}
    assert times["GA"].difference == pytest.approx(0.5, abs=0.01)
    assert times["BPSO"].difference == pytest.approx(1 / 8, abs=0.01)
    assert all(it.is_timed for it in times.values())


def test_a_reading_stands_for_a_method_at_an_equal_budget(path: Path) -> None:
    ledger = Ledger(path)
    (table,) = PAPERS["tran2019"].find("III")
    method = "vlpso-ls[iterations=36]"
    for at, data in enumerate(table.data[:7]):
        for fold in range(10):
            ledger.add(made(f"tran2019/swarms/{data}/pso/1/1/{fold}", size=1000 + at))
            ledger.add(made(f"tran2019/swarms/{data}/all/1/1/{fold}", size=2000, evaluations=1))
            ledger.add(made(f"tran2019/budget/{data}/{method}/1/1/{fold}", size=at))
    claims = claims_of(Study.of(PAPERS["tran2019"], ledger))
    assert {claim.method for claim in claims} == {"VLPSO-LS, 36 iterations"}
    assert [claim.rival for claim in claims if claim.figure == "size"] == ["PSO"]
    (size,) = (claim for claim in claims if claim.figure == "size")
    published = [float(table.published[data, "VLPSO-LS"]["size"]) for data in table.data[:7]]
    rival = [float(table.published[data, "PSO"]["size"]) for data in table.data[:7]]
    assert size.published == (sum(a < b for a, b in zip(published, rival, strict=True)), 0, 0)
    assert (size.ours, size.verdict) == ((7, 0, 0), "holds")
    assert size.has_equal_budget


def test_hours_by_the_clock_count_searches_at_a_time_once() -> None:
    # 990 to 1000, 995 to 1005 and 2000 to 2010: 25 seconds by the clock, 30 of work.
    entries = [
        made(str(end), finished=end, seconds_search=4.0, seconds_evaluate=6.0)
        for end in (1000, 1005, 2010)
    ]
    assert hours(entries) == pytest.approx((30 / 3600, 25 / 3600))
    # Where the processor was shared, the time by the clock is longer.
    shared = [made("a", finished=1000, elapsed=40.0), made("b", finished=1010, elapsed=20.0)]
    assert hours(shared) == pytest.approx((2 / 3600, 50 / 3600))


def test_a_line_is_one_of_plain_json(path: Path) -> None:
    ledger = Ledger(path)
    complete(in_order(work(ledger), ledger)[:1], ledger)
    facts, line = map(json.loads, path.read_text().splitlines())
    assert [*facts] == ["chuang2012/wine"]
    entry = Entry(*line)
    assert entry.cell == "chuang2012/loo/wine/cdbpso/1/1/0"
    assert entry == ledger.entries[entry.cell]
    assert 0 < entry.size <= 13
    assert entry.accuracy == pytest.approx(1 - entry.error)
