"""Columns are put in groups, shown and refused as documented."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import swarmrs
from numpy.typing import NDArray
from published import table_path
from sklearn.base import clone
from swarmrs import SwarmSelector, group, minimize, select
from swarmrs.exceptions import DataError, SpecError, SwarmrsWarning

Floats = NDArray[np.float64]


def planted(n_rows: int = 60, n_kinds: int = 3, n_each: int = 3, seed: int = 3) -> Floats:
    """Columns that nearly are the hidden one of their kind, kinds in turn."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((n_rows, n_kinds))
    return np.tile(hidden, n_each) + 0.05 * rng.random((n_rows, n_kinds * n_each))


def labels(n: int) -> NDArray[np.int_]:
    return np.arange(n) % 2


class TestMethods:
    @pytest.mark.parametrize("by", ["lbm", "hclust", "hclust,distance=spearman", "lbm=3"])
    def test_planted_groups_are_found(self, by: str) -> None:
        found = group(planted(), labels(60), by=by)
        assert found.indices == ((0, 3, 6), (1, 4, 7), (2, 5, 8))
        assert len(found) == 3
        assert found.ungrouped == ()
        assert found.curve["is_chosen"].sum() == 1
        assert found.curve.filter("is_chosen")["n_groups"].item() == 3

    def test_an_opposite_is_near_for_linkage_and_far_for_blocks(self) -> None:
        x = planted(n_rows=90, n_kinds=2, n_each=8)
        x[:, :8:2] *= -1
        even, odd = tuple(range(0, 16, 2)), tuple(range(1, 16, 2))
        assert group(x, labels(90), by="hclust").indices == (even, odd)
        assert group(x, labels(90)).indices == (even[:4], odd, even[4:])

    def test_constant_and_excluded_columns_are_in_no_group(self) -> None:
        x = planted()
        x[:, 1] = 7
        found = group(x, labels(60), exclude=[8])
        assert found.indices == ((0, 3, 6), (2, 5), (4, 7))
        table = swarmrs.read_table((x, labels(60)))
        assert found.ungrouped == (table.names[1], table.names[8])
        assert group(table, exclude=[8]).indices == found.indices

    def test_threads_change_nothing_and_the_seed_does(self) -> None:
        x, y = np.random.default_rng(0).random((150, 12)), labels(150)
        first = group(x, y)
        assert group(x, y, n_jobs=2).to_dict() == first.to_dict()
        assert not group(x, y, random_state=1).curve.equals(first.curve)
        assert first.settings == {
            "n_groups": None,
            "rows": 100,
            "levels": 3,
            "criterion": "aic",
            "restarts": 5,
            "seed": 0,
        }

    def test_monotone_maps_change_nothing(self) -> None:
        x, y = np.random.default_rng(1).random((80, 8)), labels(80)
        for by in ("lbm", "hclust", "hclust,distance=spearman"):
            assert group(np.exp(x), y, by=by).curve.equals(group(x, y, by=by).curve)

    def test_icl_asks_more_of_a_group(self) -> None:
        x, y = np.random.default_rng(2).random((100, 15)), labels(100)
        assert len(group(x, y, by="lbm,criterion=icl")) <= len(group(x, y))
        assert group(x, y, by="lbm,criterion=icl").criterion == "icl"

    def test_settings_reach_the_engine(self) -> None:
        found = group(planted(), labels(60), by="lbm=2,rows=30,levels=4,criterion=icl,restarts=2")
        expected = {"n_groups": 2, "rows": 30, "levels": 4, "criterion": "icl", "restarts": 2}
        assert found.settings == {**expected, "seed": 0}
        assert set(found.curve["n_groups"]) == {2}
        found = group(
            planted(), labels(60), by="hclust,rows=30,levels=5,distance=spearman", random_state=4
        )
        expected = {"n_groups": None, "rows": 30, "levels": 5, "distance": "spearman"}
        assert found.settings == {**expected, "seed": 4}


class TestSources:
    def frame(self, *names: str) -> tuple[pl.DataFrame, NDArray[np.int_]]:
        x = np.random.default_rng(0).random((20, len(names)))
        return pl.from_numpy(x, schema=list(names)), labels(20)

    def test_prefix(self) -> None:
        names = (
            "gene_a_1",
            "gene_a_2",
            "gene_b_1",
            "age",
            "pixel1",
            "pixel22",
            "_x",
            "7",
            "a.b",
            "a.c",
        )
        found = group(self.frame(*names), by="prefix")
        assert found.groups == (
            ("gene_a_1", "gene_a_2"),
            ("gene_b_1",),
            ("age",),
            ("pixel1", "pixel22"),
            ("_x",),
            ("7",),
            ("a.b",),
            ("a.c",),
        )
        assert (found.by, found.settings, found.criterion) == ("prefix", {}, None)
        dots = group(self.frame(*names), by="prefix=.").groups
        assert ("a.b", "a.c") in dots
        assert ("gene_a_", "gene_b_") not in dots

    def test_a_file(self, write: Callable[..., Path]) -> None:
        path = write(b'b, "a, or b"\n\n0,4\nd\n', "groups.txt")
        found = group(self.frame("a", "b", "a, or b", "d", "e"), by=path)
        assert found.groups == (("a", "e"), ("b", "a, or b"), ("d",))
        assert found.by == "file"

    def test_lists_and_what_group_returned(self) -> None:
        data = self.frame("a", "b", "c", "d")
        found = group(data, by=[["d", 1], [0], ["c"]])
        assert found.groups == (("a",), ("b", "d"), ("c",))
        assert group(data, by=found).groups == found.groups

    def test_text_is_read_back(self, write: Callable[..., Path]) -> None:
        data = self.frame("a", 'b "x", y', "3", "0")
        found = group(data, by=[["a", "3"], ['b "x", y', "0"]])
        assert group(data, by=write(found.to_text().encode(), "g.txt")).groups == found.groups

    def test_a_constant_column_may_stand_in_a_list_but_does_not_stay(self) -> None:
        frame, y = self.frame("a", "b", "c")
        frame = frame.with_columns(b=pl.lit(1.0))
        for by in ([["a", "b"], ["c"]], [["a"], ["c"]]):
            found = group((frame, y), by=by)
            assert (found.groups, found.ungrouped) == ((("a",), ("c",)), ("b",))

    @pytest.mark.parametrize(
        ("by", "message"),
        [
            ([["a", "b"], ["c", "a"]], "column 'a' occurs twice in the lists"),
            ([["a"], ["c"]], "column 'b' is in no group of the lists"),
            ([["a"]], "column 'b' and 1 more are in no group of the lists"),
            ([["a", "b", "c"], ["d"]], "column 'd' not found in the lists"),
            ([["a", "b", 7]], "column '7' not found in the lists"),
            (["abc"], "group 'abc' is no list of columns"),
            (3, "by is 3, expected a path or a list or a Grouping"),
            ("lbn", "groups 'lbn' are neither a method nor a file"),
            ("prefix,rows=3", "groups 'prefix,rows=3' are neither a method nor a file"),
            ("lbm,restarts=1001", "restarts is 1001, expected 1 to 1000"),
            ("lbm=0", "groups is 0, expected a whole number of 1 or more"),
            ("lbm=x", "groups is 'x', expected a whole number of 1 or more"),
            ("lbm=4", "n_groups is 4, expected 1 to 3, the columns that are not constant"),
            ("lbm,rows=1", "rows is 1, expected 2 or more"),
            ("lbm,levels=65", "levels is 65, expected 2 to 64"),
            ("lbm,distance=su", "unknown setting of lbm 'distance'"),
            ("lbm,criterion=bic", "unknown criterion 'bic'"),
            ("hclust,distance=far", "unknown distance 'far'"),
            ("hclust,restarts=3", "unknown setting of hclust 'restarts'"),
        ],
    )
    def test_bad_groups_are_refused(self, by: Any, message: str) -> None:
        with pytest.raises(SpecError) as refused:
            group(self.frame("a", "b", "c"), by=by)
        assert str(refused.value) == message

    def test_a_bad_file_is_named(self, write: Callable[..., Path]) -> None:
        data = self.frame("a", "b", "c")
        with pytest.raises(SpecError, match=r"column 'a' occurs twice in g\.txt"):
            group(data, by=write(b"a,b\nc,a\n", "g.txt"))
        with pytest.raises(SpecError, match=r"groups cannot be read from '.*g\.txt': .*utf-8"):
            group(data, by=write(b"\xff\xfe\x00", "g.txt"))

    def test_a_column_without_a_value_is_in_none(self) -> None:
        x = planted()
        x[:, 1] = np.nan
        found = group((x, labels(60)), by="hclust=3", missing="keep")
        assert found.ungrouped == ("x1",)
        assert group((x, labels(60)), by=found, missing="keep").indices == found.indices

    def test_a_table_of_constants_has_no_groups(self) -> None:
        with pytest.raises(DataError, match="every column is constant: there is nothing to group"):
            group(np.ones((4, 2)), [0, 1, 0, 1])


def test_a_grouping_shows_itself() -> None:
    found = group(TestSources().frame("a", "b", "c"), by=[["a", "c"], ["b"]])
    assert repr(found) == "2 groups of 3 features by given\n  0: a, c\n  1: b"
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["groups"] == [["a", "c"], ["b"]]
    assert plain["curve"] == []


class TestSearches:
    def test_an_algorithm_without_groups_says_so(self) -> None:
        x, y = planted(), labels(60)
        with pytest.warns(SwarmrsWarning, match="bpso does not use groups"):
            found = select(x, y, algo="bpso", feature_groups="prefix", max_evals=60, random_state=1)
        assert found.groups is None
        assert found.to_dict()["groups"] is None

    def test_bad_groups_are_refused_before_the_search(self) -> None:
        x, y = planted(), labels(60)
        with pytest.raises(SpecError, match="rows is 1, expected 2 or more"):
            select(x, y, feature_groups="lbm,rows=1")
        with pytest.raises(SpecError, match="occurs twice"):
            select(x, y, feature_groups=[[0, 0]])

    def test_a_selector_takes_groups(self) -> None:
        selector = clone(
            SwarmSelector(
                algo="bpso",
                constraints={"feature_groups": "hclust=3"},
                max_evals=60,
                random_state=1,
            )
        )
        assert selector.get_params()["constraints"] == {"feature_groups": "hclust=3"}
        with pytest.warns(SwarmrsWarning, match="does not use groups"):
            assert selector.fit(planted(), labels(60)).result_.groups is None

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([[0, 1], [1, 2]], "bit 1 occurs twice in the lists"),
            ([[0], [2]], "bit 1 is in no group of the lists"),
            ([[0, 3]], r"groups is \[0, 3\], expected numbers of bits"),
        ],
    )
    def test_bits_are_parted(self, groups: list[list[int]], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            minimize(lambda x: x.sum(axis=1), 3, groups=groups)


class TestCommand:
    @pytest.fixture
    def csv(self, tmp_path: Path) -> Path:
        x = planted()
        frame = pl.from_numpy(x, schema=[f"{kind}_{at}" for at in range(3) for kind in "abc"])
        path = tmp_path / "planted.csv"
        frame.with_columns(pl.lit(1).alias("one"), pl.Series("tree", labels(60))).write_csv(path)
        return path

    def test_options_of_reading(self, cli: Callable[..., Any], tmp_path: Path) -> None:
        path = tmp_path / "places.csv"
        path.write_text("a;b;class\n1,5;1;x\n2,5;-;y\n1,0;3;x\n2,0;1;y\n")
        reading = ("--separator", ";", "--decimal", ",", "--null", "-", "--missing", "median")
        code, out, err = cli("group", path, "--by", "prefix", *reading, "-f", "csv")
        assert (code, out) == (0, "group,index,feature\n1,0,a\n2,1,b\n")
        assert "note: 1 missing value imputed by median\n" in err

    def test_table(self, cli: Callable[..., Any], csv: Path) -> None:
        code, out, err = cli("group", csv, "--target", "tree", "-q")
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert lines[:4] == [
            "data          planted.csv: 60 rows, 10 features, 2 classes of 'tree'",
            "grouped by    lbm, criterion aic, levels 3, restarts 5, rows 100, seed 0",
            "groups        3 of 9 features, 1 feature in none",
            "",
        ]
        assert lines[4:8] == [
            "GROUP  SIZE  FEATURES",
            "1      3     a_0, a_1, a_2",
            "2      3     b_0, b_1, b_2",
            "3      3     c_0, c_1, c_2",
        ]
        assert lines[9].split() == ["GROUPS", "ROW", "GROUPS", "AIC"]
        curve = [line.split() for line in lines[10:]]
        assert [row[0] for row in curve] == [str(at) for at in range(1, len(curve) + 1)]
        assert [row[0] for row in curve if row[-1] == "chosen"] == ["3"]
        assert min(curve, key=lambda row: float(row[2]))[0] == "3"

    def test_silhouettes(self, cli: Callable[..., Any], csv: Path) -> None:
        _, out, _ = cli("group", csv, "--by", "hclust", "-q")
        curve = [line.split() for line in out.split("SILHOUETTE\n")[1].splitlines()]
        assert max(curve, key=lambda row: float(row[1])) == curve[1]
        assert (curve[1][0], curve[1][-1]) == ("3", "chosen")

    def test_wide_groups_are_wrapped(
        self, cli: Callable[..., Any], csv: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        names = [f"a rather long name {at:02}" for at in range(9)]
        frame = pl.from_numpy(planted(), schema=names).with_columns(tree=pl.Series(labels(60)))
        frame.write_csv(csv)
        _, out, _ = cli("group", csv, "--by", "lbm=1", "-q")
        lines = out.split("FEATURES\n")[1].split("\n\n")[0].splitlines()
        assert all(len(line) <= 60 for line in lines)
        assert ", ".join(names) == " ".join(line[13:] for line in lines)
        assert lines[0].startswith("1      9     a rather long name 00, a rather")

    def test_json_and_csv(self, cli: Callable[..., Any], csv: Path) -> None:
        code, out, _ = cli("group", csv, "--by", "prefix", "--format", "json", "-q")
        found = json.loads(out)
        assert code == 0
        assert found["groups"][1] == ["b_0", "b_1", "b_2"]
        assert (found["n_groups"], found["ungrouped"]) == (3, ["one"])
        _, out, _ = cli("group", csv, "--by", "prefix", "--format", "csv", "-q")
        frame = pl.read_csv(out.encode())
        assert frame.columns == ["group", "index", "feature"]
        assert frame.row(3) == (2, 1, "b_0")

    def test_a_file_goes_round(self, cli: Callable[..., Any], csv: Path) -> None:
        path = csv.with_name("groups.txt")
        first = cli("group", csv, "--by", "hclust", "--output", path, "--format", "csv", "-q").out
        assert path.read_text() == "a_0,a_1,a_2\nb_0,b_1,b_2\nc_0,c_1,c_2\n"
        assert cli("group", csv, "--by", path, "--format", "csv", "-q").out == first
        assert cli("group", csv, "--output", path, "-q").code == 2
        code, _, err = cli(
            "select", csv, "-a", "bpso", "--feature-groups", path, "--max-evals", 30, "--seed", 1
        )
        assert code == 0
        assert "warning: bpso does not use groups" in err

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--by", "lbm=11"], "n_groups is 11, expected 1 to 9"),
            (["--by", "kmeans"], "groups 'kmeans' are neither a method nor a file"),
            (["--by", "hclust,link=ward"], "unknown setting of hclust 'link'"),
            (["--seed", "-1"], "--seed is -1, expected a whole number of 0 or more"),
            (["--format", "xml"], "unknown format 'xml'"),
            (["--output", "groups.xml"], "'groups.xml' ends in '.xml'"),
        ],
    )
    def test_bad_calls(
        self, cli: Callable[..., Any], csv: Path, args: list[str], message: str
    ) -> None:
        code, out, err = cli("group", csv, "-q", *args)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {message}")
        assert "\nhint: " in err


# What the publication counts, on rows that it does not name.
PUBLISHED = {
    "wine": 6,
    "australian": 7,
    "vehicle": 6,
    "german": 10,
    "wdbc": 6,
    "ionosphere": 11,
    "sonar": 12,
    "musk1": 14,
    "arrhythmia": 15,
}


@pytest.mark.filterwarnings("ignore:.* imputed by median:swarmrs.exceptions.SwarmrsWarning")
@pytest.mark.parametrize("name", PUBLISHED)
def test_as_many_groups_as_published_within_a_factor_of_two(name: str) -> None:
    found = group(table_path(name), "class", missing="median", n_jobs=2)
    assert 0.5 <= len(found) / PUBLISHED[name] <= 2
    members = sorted(index for part in found.indices for index in part)
    assert all(a < b for a, b in pairwise(members))
    assert len(members) + len(found.ungrouped) == found.data["features"]
