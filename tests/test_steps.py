"""The step commands as somebody's Makefile calls them."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from spatialsplit.build import BuildReport
from spatialsplit.draw import DrawRules, Holdout
from spatialsplit.quadrats import Grid
from spatialsplit.steps import DrawTask, add_quadrats, draw_table, write_surveys
from spatialsplit.surveys import SurveyRules
from tests.recipes import PA_HEADER, four_quadrats, write_csv

REPOSITORY = Path(__file__).parents[1]


def spatialsplit(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person does."""
    done = subprocess.run(
        [sys.executable, "-m", "spatialsplit", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_the_steps_one_by_one_give_what_build_gives(flora: Path, built: BuildReport, tmp_path: Path) -> None:
    """Quadrats, draw and filter-po on the surveys of the flora find the same holdouts and remove the same records."""
    spatialsplit(
        "surveys",
        flora / "pa.csv",
        "--keys",
        "patchID,dayOfYear",
        "--out",
        tmp_path / "surveys.csv",
        "--coordinate-decimals",
        6,
    )
    spatialsplit("quadrats", tmp_path / "surveys.csv", "--out", tmp_path / "q.csv")
    spatialsplit(
        *("draw", tmp_path / "q.csv", "--seed", "tests", "--holdout", "test=0.05", "--holdout", "val=0.05"),
        *("--out", tmp_path / "draw.csv", "--rows", tmp_path / "split.csv"),
    )
    po = ("filter-po", flora / "po.csv", "--sites", tmp_path / "split.csv", "--where", "subset=test", "--radius", 300)
    spatialsplit(*po, "--out", tmp_path / "kept.csv", "--removed", tmp_path / "removed.csv")
    quadrats = pd.read_csv(tmp_path / "draw.csv").set_index("quadratId")
    published = pd.read_csv(built.folder / "public" / "quadrats.csv").set_index("quadratId")
    assert quadrats.subset.to_dict() == published.subset.to_dict()
    assert quadrats.test_number.to_dict() == published.test_number.to_dict()
    removed, of_build = (
        pd.read_csv(path) for path in (tmp_path / "removed.csv", built.folder / "private" / "PO_removed.csv")
    )
    assert removed[["glcID", "distance_m", "nearest_surveyId"]].equals(
        of_build[["glcID", "distance_m", "nearest_surveyId"]]
    )


def test_the_makefile_of_the_docs_runs(flora: Path, tmp_path: Path) -> None:
    """The pipeline that the page shows, run by make as it stands there."""
    page = (REPOSITORY / "docs" / "how-to" / "makefile.md").read_text()
    makefile = page.split("```make\n")[1].split("```")[0]
    (tmp_path / "Makefile").write_text(makefile)
    for name in ("pa.csv", "po.csv"):
        shutil.copy(flora / name, tmp_path / name)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["make", "-C", tmp_path], check=True, env=environment, capture_output=True)
    kept, removed = (len((tmp_path / name).read_text().splitlines()) - 1 for name in ("po_train.csv", "po_removed.csv"))
    assert kept + removed == 5_000


def test_quadrats_passes_rows_on_text_for_text(tmp_path: Path) -> None:
    """Only a column is added; odd numbers, empty cells and quotes stay what they were."""
    points = write_csv(tmp_path / "p.csv", "id;lon;lat;note", ['007;3.870000;43.6100;"a;b ""c"""', "8;-0.5;51;"])
    spatialsplit("quadrats", points, "--out", tmp_path / "q.csv")
    with (tmp_path / "q.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["id", "lon", "lat", "note", "quadratId"]
    assert rows[1][:4] == ["007", "3.870000", "43.6100", 'a;b "c"']
    assert rows[2][3] == ""
    assert rows[2][4].startswith("CRS3035RES5000mN")


def test_quadrats_takes_a_preset_or_a_grid_and_not_both(tmp_path: Path) -> None:
    """glc2022 labels look like the organizers'; a preset beside --crs is a usage error."""
    points = write_csv(tmp_path / "p.csv", "lon,lat", ["3.87,43.61"])
    spatialsplit("quadrats", points, "--grid", "glc2022", "--out", tmp_path / "q.parquet")
    assert pd.read_parquet(tmp_path / "q.parquet").quadratId.tolist() == ["e0754n0966"]
    spatialsplit("quadrats", points, "--grid", "glc2022", "--crs", "EPSG:3035", "--out", tmp_path / "q.csv", code=2)


def test_draw_by_threshold_moves_nothing_when_points_are_added(tmp_path: Path) -> None:
    """Each quadrat is decided by its own number."""
    few = [f"{i},{5 + i / 10:.1f},45.0" for i in range(40)]
    more = [*few, *(f"{i},{5 + i / 10:.1f},46.0" for i in range(40))]
    subsets = []
    for name, rows in (("few", few), ("more", more)):
        points = write_csv(tmp_path / f"{name}.csv", "id,lon,lat", rows)
        out = tmp_path / f"{name}_draw.csv"
        spatialsplit("draw", points, "--seed", 7, "--holdout", "test=0.3", "--method", "threshold", "--out", out)
        subsets.append(pd.read_csv(out).set_index("quadratId"))
    assert (subsets[1].subset[subsets[0].index] == subsets[0].subset).all()
    numbers = subsets[1].test_number.map(lambda text: int(text, 16))
    assert ((numbers < 0.3 * 2**64) == (subsets[1].subset == "test")).all()


def test_draw_keeps_an_earlier_release(tmp_path: Path) -> None:
    """With --extend listed quadrats stay and only new ones are drawn."""
    rows = [f"{i},{5 + i / 10:.1f},45.0" for i in range(60)]
    write_csv(tmp_path / "old.csv", "id,lon,lat", rows[:30])
    write_csv(tmp_path / "new.csv", "id,lon,lat", rows)
    spatialsplit("draw", tmp_path / "old.csv", "--seed", 1, "--holdout", "test=0.2", "--out", tmp_path / "a.csv")
    spatialsplit(
        "draw",
        tmp_path / "new.csv",
        "--seed",
        2,
        "--holdout",
        "test=0.2",
        "--extend",
        tmp_path / "a.csv",
        "--out",
        tmp_path / "b.csv",
    )
    old, new = (pd.read_csv(tmp_path / name).set_index("quadratId").subset for name in ("a.csv", "b.csv"))
    assert (new[old.index] == old).all()
    assert (new.drop(old.index) == "test").sum() == 6


def test_surveys_gives_a_row_a_survey_with_its_species(tmp_path: Path) -> None:
    """Numbered by the hash of the keys, species in increasing order."""
    write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats({0: [10, 9, 10]}))
    spatialsplit("surveys", tmp_path / "pa.csv", "--out", tmp_path / "s.csv")
    table = pd.read_csv(tmp_path / "s.csv", dtype=str)
    assert list(table) == ["surveyId", "patchID", "dayOfYear", "lon", "lat", "n_species", "speciesIds"]
    ranked = sorted(
        (f"survey|p{i}|{10 + i}" for i in range(4)), key=lambda text: hashlib.sha256(text.encode()).digest()[:8]
    )
    assert [f"survey|{p}|{d}" for p, d in zip(table.patchID, table.dayOfYear, strict=True)] == ranked
    row = table[table.patchID == "p0"].iloc[0]
    assert (row.n_species, row.speciesIds) == ("2", "9 10")


def test_filter_po_counts_as_json_and_leaves_kept_rows_untouched(tmp_path: Path) -> None:
    """The record at the site goes with its distance; the other stays as it was."""
    sites = write_csv(
        tmp_path / "sites.csv", "surveyId,lon,lat,subset", ["10,5.0,45.0,test", "9,5.0,45.0,test", "3,9.0,45.0,train"]
    )
    po = write_csv(tmp_path / "po.csv", "id,lon,lat", ["a,5.000,45", "b,9.0,45.00"])
    done = spatialsplit(
        *("filter-po", po, "--sites", sites, "--where", "subset=test", "--radius", 10, "--json"),
        *("--out", tmp_path / "kept.csv", "--removed", tmp_path / "removed.csv"),
    )
    assert json.loads(done.stdout) == {"in": 2, "kept": 1, "removed": 1, "sites": 2}
    assert (tmp_path / "kept.csv").read_text() == "id,lon,lat\nb,9.0,45.00\n"
    assert (tmp_path / "removed.csv").read_text() == "id,lon,lat,distance_m,nearest_surveyId\na,5.000,45,0.000,9\n"


def test_filter_po_refuses_a_filter_without_sites(tmp_path: Path) -> None:
    """A misspelt value would otherwise keep everything in silence."""
    sites = write_csv(tmp_path / "sites.csv", "surveyId,lon,lat,subset", ["1,5.0,45.0,test"])
    po = write_csv(tmp_path / "po.csv", "id,lon,lat", ["a,5.0,45"])
    done = spatialsplit(
        "filter-po", po, "--sites", sites, "--where", "subset=tset", "--radius", 1, "--out", tmp_path / "k.csv", code=1
    )
    assert "No row of sites.csv has subset = 'tset'" in done.stderr
    assert not (tmp_path / "k.csv").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["build", "nowhere.toml", "--out", "d"], 1, "There is no recipe nowhere.toml"),
        (["quadrats", "nowhere.csv", "--out", "q.csv"], 1, "There is no file nowhere.csv"),
        (["quadrats", "p.csv", "--out", "q.xlsx"], 1, "An output ends in .csv, .tsv or .parquet"),
        (["quadrats", "p.csv", "--out", "q.csv", "--crs", "EPSG:4326"], 1, "does not count in metres"),
        (
            ["quadrats", "bad.csv", "--out", "q.csv"],
            1,
            "Invalid latitude in 1 of 2 rows of bad.csv (first: line 3: 91)",
        ),
        (["draw", "p.csv", "--seed", "a|b", "--holdout", "test=0.5", "--out", "d.csv"], 1, "Invalid seed 'a|b'"),
        (["draw", "p.csv", "--seed", "a", "--holdout", "test=half", "--out", "d.csv"], 2, "is not a number"),
        (
            ["draw", "p.csv", "--seed", "a", "--holdout", "test=0.9", "--holdout", "val=0.2", "--out", "d.csv"],
            1,
            "sum to 1.1",
        ),
        (
            ["draw", "p.csv", "--seed", "a", "--holdout", "test=0.01", "--out", "d.csv"],
            1,
            "The holdout 'test' is empty",
        ),
        (["filter-po", "p.csv", "--sites", "p.csv", "--radius", "-1", "--out", "k.csv"], 1, "Invalid radius -1.0 m"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_a_fault_is_one_line_and_an_exit_code(
    words: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0 fine, 1 bad input, 2 usage; nothing is written."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "p.csv", "lon,lat", ["5.0,45.0", "6.0,45.0"])
    write_csv(tmp_path / "bad.csv", "lon,lat", ["5.0,45.0", "6.0,91"])
    done = spatialsplit(*words, code=code)
    assert said in done.stderr
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {"p.csv", "bad.csv"}


def test_new_seed_is_strong_and_new() -> None:
    """32 hexadecimal digits, another each time."""
    first, second = (spatialsplit("new-seed").stdout.strip() for _ in range(2))
    assert first != second
    assert len(bytes.fromhex(first)) == 16


def test_help_imports_no_heavy_library() -> None:
    """`import spatialsplit` and `--help` load no library for numbers, tables, maps, learning or clusters."""
    heavy = ["matplotlib", "sklearn", "rasterio", "dask", "torch", "pandas", "pyarrow", "scipy", "pyproj", "numpy"]
    code = f"import sys, spatialsplit.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    """An output that is the input by another name is refused, and the input stays."""
    points = write_csv(tmp_path / "p.csv", "id,lon,lat", ["1,5.0,45.0"])
    before = points.read_text()
    words = ("filter-po", points, "--sites", points, "--radius", 1, "--out", tmp_path / "." / "p.csv")
    said = spatialsplit(*words, code=1)
    assert "is an input" in said.stderr
    assert points.read_text() == before


def test_steps_take_paths_as_text_too(flora: Path, tmp_path: Path) -> None:
    """As in a notebook: "pa.csv" is a path."""
    points, drawn = str(tmp_path / "points.csv"), str(tmp_path / "draw.csv")
    add_quadrats(str(flora / "pa.csv"), points, Grid())
    task = DrawTask(DrawRules([Holdout("test", 0.1)]), "1")
    draw_table(points, drawn, task, rows=str(tmp_path / "rows.csv"))
    write_surveys(str(flora / "pa.csv"), str(tmp_path / "surveys.csv"), SurveyRules())
    assert {path.name for path in tmp_path.glob("*.csv")} == {"points.csv", "draw.csv", "rows.csv", "surveys.csv"}
