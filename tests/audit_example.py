"""A small but complete dataset in the published format, written in plain Python for the tests of the audit.

Nothing of the package is used: coordinates come from PROJ by way of pyproj, quadrats from whole metres, the
draw from hashlib. The surveys stand in the middle of their quadrats unless a test says otherwise.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyproj

SEED = "2b7e151628aed2a6"
RADIUS_M = 300
SIZE_M = 5000
SHARES = {"test": 0.2, "val": 0.2}
PUBLIC_SHARE = 0.5
FIRST_CORNER = (4_000_000, 2_700_000)
N_SPECIES = 40

_TO_LONLAT = pyproj.Transformer.from_crs(3035, 4326, always_xy=True)
_GEOD = pyproj.Geod(ellps="WGS84")
Row = dict[str, Any]


@dataclass
class Example:
    """The tables of a dataset by their names, its manifest, and how to write them."""

    tables: dict[str, tuple[list[str], list[Row]]] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    further: dict[str, bytes] = field(default_factory=dict)

    def rows(self, name: str) -> list[Row]:
        """Give the rows of a table, to change them."""
        return self.tables[name][1]

    def add_column(self, name: str, column: str, values: list[Any]) -> None:
        """Add a column to a table."""
        header, rows = self.tables[name]
        header.append(column)
        for row, value in zip(rows, values, strict=True):
            row[column] = value

    def write(self, folder: Path) -> Path:
        """Write all files with hashes that fit, so that only the content can be at fault."""
        for part in ("public", "private"):
            (folder / part).mkdir(parents=True)
        for name, (header, rows) in self.tables.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, header, lineterminator="\n", extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)
        (folder / "public/README.md").write_text("# Example\n", encoding="utf-8")
        (folder / "recipe.toml").write_text('name = "example"\n', encoding="utf-8")
        for name, content in self.further.items():
            (folder / name).write_bytes(content)
        mend(folder, self.manifest, {name: header for name, (header, _) in self.tables.items()})
        return folder


ROLES = {
    "public/PO_train.csv": "po_train",
    "public/PA_train.csv": "pa_train",
    "public/PA_train_empty.csv": "pa_train_empty",
    "public/PA_val.csv": "pa_val",
    "public/PA_test_blind.csv": "pa_test_blind",
    "public/species.csv": "species",
    "public/sample_submission.csv": "sample_submission",
    "public/quadrats.csv": "quadrats",
    "private/solution.csv": "solution",
    "private/PA_test.csv": "pa_test",
    "private/PO_removed.csv": "po_removed",
    "private/dropped_labels.csv": "dropped_labels",
    "private/dropped_surveys.csv": "dropped_surveys",
}


def mend(folder: Path, manifest: dict[str, Any], headers: dict[str, list[str]]) -> None:
    """Write manifest.json and both SHA256SUMS for the files as they are."""
    outputs = {}
    for path in sorted([*(folder / "public").rglob("*"), *(folder / "private").rglob("*")]):
        name = path.relative_to(folder).as_posix()
        if path.name == "SHA256SUMS" or path.is_dir():
            continue
        entry: dict[str, Any] = {"sha256": _sha256(path), "bytes": path.stat().st_size}
        if name in headers:
            rows = len(list(csv.reader(path.read_text(encoding="utf-8").splitlines()))) - 1
            columns = [{"name": column, "means": column, "type": "text"} for column in headers[name]]
            entry |= {"role": ROLES.get(name), "rows": rows, "separator": ",", "columns": columns}
        outputs[name] = entry
    written = {**manifest, "outputs": outputs, "audit": [{"name": "ids_agree", "passed": True}]}
    (folder / "manifest.json").write_text(json.dumps(written, indent=1), encoding="utf-8")
    write_sums(folder / "public")
    write_sums(folder)


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS for the files below a folder."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{_sha256(folder / name)}  {name}\n" for name in files if name not in ("SHA256SUMS", "run.json")]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def label_of(column: int, row: int) -> str:
    """Name a quadrat by its place on the chessboard."""
    east, north = FIRST_CORNER[0] + column * SIZE_M, FIRST_CORNER[1] + row * SIZE_M
    return f"CRS3035RES{SIZE_M}mN{north}E{east}"


def place_of(label: str) -> tuple[int, int]:
    """Give a quadrat's place on the chessboard."""
    north, east = map(int, label.partition("mN")[2].split("E"))
    return (east - FIRST_CORNER[0]) // SIZE_M, (north - FIRST_CORNER[1]) // SIZE_M


def lonlat(column: int, row: int, east_m: float = 2500, north_m: float = 2500) -> tuple[float, float]:
    """Give the rounded coordinate of a point, in metres from the corner of a quadrat of the chessboard."""
    east, north = FIRST_CORNER[0] + column * SIZE_M + east_m, FIRST_CORNER[1] + row * SIZE_M + north_m
    lon, lat = _TO_LONLAT.transform(east, north)
    return round(lon, 6), round(lat, 6)


def number(holdout: str, label: str, seed: str = SEED) -> str:
    """Give the 16 hex digits that a quadrat has in the draw of a holdout."""
    return hashlib.sha256(f"{seed}|{holdout}|{label}".encode()).hexdigest()[:16]


def metres(a: Row, b: Row) -> float:
    """Measure between two rows, on the ellipsoid."""
    return float(_GEOD.inv(a["lon"], a["lat"], b["lon"], b["lat"])[2])


def example(*, side: int = 8, seed: str = SEED, sealed: bool = False) -> Example:
    """Make a clean dataset: a chessboard of quadrats, two or three surveys each, one in ten of them empty."""
    rng = random.Random(1)
    subsets = _draw([label_of(i, j) for i in range(side) for j in range(side)], seed)
    surveys = _surveys(side, subsets, rng)
    made = Example()
    made.manifest = _manifest(seed, sealed)
    _pa_tables(made, surveys)
    _po_tables(made, side, [survey for survey in surveys if survey["subset"] == "test"], rng)
    _summaries(made, surveys, subsets, seed)
    _steps(made, surveys)
    return made


def _draw(labels: list[str], seed: str) -> dict[str, str]:
    subsets = dict.fromkeys(labels, "train")
    for holdout, share in SHARES.items():
        free = sorted(
            (label for label, subset in subsets.items() if subset == "train"),
            key=lambda label: (number(holdout, label, seed), label),
        )
        subsets.update(dict.fromkeys(free[: math.floor(share * len(free) + 0.5)], holdout))
    return subsets


def _surveys(side: int, subsets: dict[str, str], rng: random.Random) -> list[Row]:
    surveys: list[Row] = []
    for i in range(side):
        for j in range(side):
            for plot in range(2 + (i + j) % 2):
                lon, lat = lonlat(i, j, 1000 + 900 * plot, 1500 + 700 * plot)
                species = sorted(rng.sample(range(N_SPECIES), rng.randint(2, 5)))
                empty = plot == 1 and rng.random() < 0.1
                surveys.append(
                    {
                        "patchID": 10_000 + len(surveys), "dayOfYear": rng.randint(100, 250), "lon": lon,
                        "lat": lat, "year": 2020, "region": rng.choice(["ALPINE", "STEPPE"]),
                        "species": [] if empty else species, "quadrat": label_of(i, j),
                        "subset": subsets[label_of(i, j)],
                    }
                )  # fmt: skip
    for survey, survey_id in zip(surveys, rng.sample(range(1, len(surveys) + 1), len(surveys)), strict=True):
        survey["surveyId"] = survey_id
    return sorted(surveys, key=lambda survey: int(survey["surveyId"]))


_SURVEY_HEADER = ["surveyId", "patchID", "dayOfYear", "lon", "lat"]
_FURTHER = ["year", "region"]


def _pa_tables(made: Example, surveys: list[Row]) -> None:
    header = [*_SURVEY_HEADER, "speciesId", *_FURTHER]
    for subset, name in (("train", "public/PA_train"), ("val", "public/PA_val"), ("test", "private/PA_test")):
        held = [survey for survey in surveys if survey["subset"] == subset]
        rows = [{**survey, "speciesId": species} for survey in held for species in survey["species"]]
        made.tables[f"{name}.csv"] = (list(header), rows)
    empty = [survey for survey in surveys if survey["subset"] == "train" and not survey["species"]]
    made.tables["public/PA_train_empty.csv"] = ([*_SURVEY_HEADER, *_FURTHER], [dict(row) for row in empty])
    tests = [survey for survey in surveys if survey["subset"] == "test" and survey["species"]]
    made.tables["public/PA_test_blind.csv"] = ([*_SURVEY_HEADER, *_FURTHER], [dict(row) for row in tests])
    quadrats = sorted({row["quadrat"] for row in tests}, key=lambda label: (number("public", label), label))
    public = set(quadrats[: math.floor(PUBLIC_SHARE * len(quadrats) + 0.5)])
    made.tables["private/solution.csv"] = (
        ["surveyId", "predictions", "Usage"],
        [
            {
                "surveyId": row["surveyId"],
                "predictions": " ".join(map(str, row["species"])),
                "Usage": "Public" if row["quadrat"] in public else "Private",
            }
            for row in tests
        ],
    )
    made.tables["public/sample_submission.csv"] = (
        ["surveyId", "predictions"],
        [{"surveyId": row["surveyId"], "predictions": "0 1"} for row in tests],
    )
    dropped = [row for row in surveys if row["subset"] != "train" and not row["species"]]
    made.tables["private/dropped_surveys.csv"] = (
        ["reason", *_SURVEY_HEADER, "quadratId"],
        [{**row, "reason": "empty_in_holdout", "quadratId": row["quadrat"]} for row in dropped],
    )


def _po_tables(made: Example, side: int, tests: list[Row], rng: random.Random) -> None:
    records = []
    for n in range(400):
        i, j = rng.randrange(side), rng.randrange(side)
        lon, lat = lonlat(i, j, rng.uniform(0, SIZE_M), rng.uniform(0, SIZE_M))
        species = n % N_SPECIES
        records.append(
            {
                "gbifID": 5000 + n,
                "speciesId": species,
                "lon": lon,
                "lat": lat,
                "year": 2019,
                "observer": "É, N",
            }
        )
    for survey in tests[:3]:
        records.append({**records[0], "lon": survey["lon"], "lat": round(survey["lat"] + 0.001, 6)})
    kept, removed = [], []
    for record in records:
        distance, nearest = min((metres(record, survey), survey["surveyId"]) for survey in tests if survey["species"])
        if distance > RADIUS_M:
            kept.append(record)
        else:
            further = {"reason": "near_test", "distance_m": f"{distance:.3f}", "nearest_surveyId": nearest}
            removed.append({**record, **further})
    header = ["gbifID", "speciesId", "lon", "lat", "year", "observer"]
    made.tables["public/PO_train.csv"] = (header, kept)
    made.tables["private/PO_removed.csv"] = ([*header, "reason", "distance_m", "nearest_surveyId"], removed)


def _summaries(made: Example, surveys: list[Row], subsets: dict[str, str], seed: str) -> None:
    all_of = Counter(survey["quadrat"] for survey in surveys)
    empty = Counter(survey["quadrat"] for survey in surveys if not survey["species"])
    made.tables["public/quadrats.csv"] = (
        ["quadratId", "n_surveys", "n_empty", "test_number", "val_number", "subset"],
        [
            {
                "quadratId": label,
                "n_surveys": all_of[label],
                "n_empty": empty[label],
                "test_number": number("test", label, seed),
                "val_number": number("val", label, seed) if subsets[label] != "test" else "",
                "subset": subsets[label],
            }
            for label in sorted(subsets)
        ],
    )
    made.tables["public/species.csv"] = (["speciesId", "n_po_train", "n_pa_train", "n_pa_val"], [])
    count_species(made)


def count_species(made: Example) -> None:
    """Write species.csv anew for the tables as they are."""
    counts = {
        f"n_{role}": Counter(int(row["speciesId"]) for row in made.rows(name))
        for name, role in ROLES.items()
        if role in ("po_train", "pa_train", "pa_val")
    }
    known = sorted(set().union(*counts.values()))
    made.rows("public/species.csv")[:] = [
        {"speciesId": species, **{name: count[species] for name, count in counts.items()}} for species in known
    ]


def _manifest(seed: str, sealed: bool) -> dict[str, Any]:
    commitment = hashlib.sha256(seed.encode()).hexdigest()
    return {
        "format": 1,
        "name": "example",
        "recipe": {
            "surveys": {"keys": ["patchID", "dayOfYear"]},
            "po_filter": {"radius_m": RADIUS_M, "around": ["test"]},
            "output": {"blind_columns": []},
        },
        "seed": {"kind": "sealed", "sha256": commitment} if sealed else {"kind": "open", "value": seed},
        "layout": None,
        "grid": {"preset": None, "crs": "EPSG:3035", "size_m": SIZE_M, "origin": [0, 0]},
        "draw": {
            "method": "quota", "share_of": "quadrats", "strata": None, "remainder": "train",
            "seed_suffix": "",
            "public_share": PUBLIC_SHARE,
        },
    }  # fmt: skip


def _steps(made: Example, surveys: list[Row]) -> None:
    """Write down what each step counted."""
    n_pa = {name: len(made.rows(name)) for name in ("public/PA_train.csv", "public/PA_val.csv", "private/PA_test.csv")}
    n_empty = sum(not survey["species"] for survey in surveys)
    n_dropped = len(made.rows("private/dropped_surveys.csv"))
    n_kept, n_removed = len(made.rows("public/PO_train.csv")), len(made.rows("private/PO_removed.csv"))
    n_test, n_blind = n_pa["private/PA_test.csv"], len(made.rows("public/PA_test_blind.csv"))
    n_rows = sum(n_pa.values()) + n_empty
    made.manifest["steps"] = [
        {"step": "read_pa", "in": n_rows, "kept": n_rows, "dropped": {}},
        {"step": "surveys", "in": n_rows, "kept": n_rows, "dropped": {}},
        {
            "step": "empty_surveys",
            "in": len(surveys),
            "kept": len(surveys) - n_dropped,
            "dropped": {"empty_in_holdout": n_dropped} if n_dropped else {},
        },
        {"step": "read_po", "in": n_kept + n_removed, "kept": n_kept + n_removed, "dropped": {}},
        {"step": "filter_po", "in": n_kept + n_removed, "kept": n_kept, "dropped": {"near_test": n_removed}},
        {"step": "vocabulary_labels", "in": n_test, "kept": n_test, "dropped": {}},
        {"step": "vocabulary_surveys", "in": n_blind, "kept": n_blind, "dropped": {}},
    ]
    quadrats = made.rows("public/quadrats.csv")
    holdouts, free = [], [row for row in quadrats if row["n_surveys"] > row["n_empty"]]
    for name, share in SHARES.items():
        taken = [row for row in free if row["subset"] == name]
        full = [sum(row["n_surveys"] - row["n_empty"] for row in part) for part in (free, taken)]
        holdouts.append(
            {
                "name": name,
                "share": share,
                "free": len(free),
                "drawn": len(taken),
                "surveys_free": full[0],
                "surveys_drawn": full[1],
            }
        )
        free = [row for row in free if row["subset"] != name]
    made.manifest["draw"]["holdouts"] = holdouts
    made.manifest["grid"] |= {"quadrats": len(quadrats), "occupied": holdouts[0]["free"]}
