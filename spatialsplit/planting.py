"""Copy a built dataset with one fault in it, and mend its checksums: what the audit has to find.

A fault is what a careless or a dishonest organizer would publish, so the copy's manifest and checksums fit its files,
except where the fault is that
they do not. Only datasets in our own layout, as CSV, can be planted in.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyproj

from spatialsplit.errors import DataError, nearest_name
from spatialsplit.manifest import MANIFEST, content_of, file_sha256, manifest_text, read_whole_manifest, write_sums
from spatialsplit.publishing import new_folder
from spatialsplit.quadrats import Grid
from spatialsplit.recipe import parse_recipe

Rows = list[dict[str, str]]


class Copy:
    """A dataset that may be changed: its tables by their roles.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = read_whole_manifest(folder)
        self._names: dict[str, str] = {
            entry["role"]: name for name, entry in self.manifest["outputs"].items() if name.endswith(".csv")
        }

    def path(self, role: str) -> Path:
        """Give the file of a role.

        Raises
        ------
        DataError
            The dataset has none.
        """
        if role not in self._names:
            raise DataError(
                f"This fault needs a file of the role '{role}', which the dataset does not have. Plant another fault."
            )
        return self.folder / self._names[role]

    def read(self, role: str) -> Rows:
        """Read a table."""
        with self.path(role).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def write(self, role: str, rows: Rows) -> None:
        """Write a table back."""
        with self.path(role).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def mend(self) -> None:
        """Make manifest and checksums fit the files."""
        for name, entry in self.manifest["outputs"].items():
            path = self.folder / name
            entry["sha256"], entry["bytes"] = file_sha256(path), path.stat().st_size
            if "columns" in entry:
                entry["columns"] = _columns(path, entry)
                entry["rows"], entry["content_sha256"] = content_of(path, entry["separator"], entry["columns"])
        (self.folder / MANIFEST).write_text(manifest_text(self.manifest), "utf-8", newline="\n")
        write_sums(self.folder, {})

    def grid(self) -> Grid:
        """Give the grid of the dataset."""
        recipe = dict(self.manifest["recipe"])
        if recipe["quadrats"]["grid"] is not None:
            recipe["quadrats"] = {"grid": recipe["quadrats"]["grid"]}
        return parse_recipe(recipe).grid()


def _columns(path: Path, entry: Mapping[str, Any]) -> list[dict[str, str]]:
    """Describe the columns that a changed table has now."""
    known = {column["name"]: column for column in entry["columns"]}
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file, delimiter=entry["separator"] or ","))
    return [known.get(name, {"name": name, "means": name, "type": "text"}) for name in header]


@dataclass(frozen=True)
class Fault:
    """A fault that can be planted.

    Attributes
    ----------
    check : str
        The check of the audit that is about it.
    about : str
        What is done, in a person's words.
    plant : callable
    mends : bool
        Whether manifest and checksums are mended afterwards.
    """

    check: str
    about: str
    plant: Callable[[Copy], None]
    mends: bool = True


def plant_fault(name: str, data: Path | str, out: Path | str, *, force: bool = False) -> Fault:
    """Copy a dataset with one fault.

    Parameters
    ----------
    name : str
        One of `FAULTS`.
    data, out : path
        The dataset, and the folder to make.
    force : bool
        Replace a folder that is there already.

    Raises
    ------
    DataError
        There is no such fault, or it cannot be planted in this dataset.
    """
    if name not in FAULTS:
        near = nearest_name(name, FAULTS)
        hint = f" Did you mean '{near}'?" if near else ""
        raise DataError(f"Unknown fault '{name}'. Known: {', '.join(FAULTS)}.{hint}")
    data = Path(data)
    if read_whole_manifest(data).get("layout") is not None:
        raise DataError(
            f"{data} has the layout of another competition. Faults are planted in our own layout "
            f"only. Build it without layout."
        )
    fault = FAULTS[name]
    with new_folder(Path(out), force=force) as folder:
        shutil.copytree(data, folder, dirs_exist_ok=True)
        copy = Copy(folder)
        fault.plant(copy)
        if fault.mends:
            copy.mend()
    return fault


def _shared_quadrat(copy: Copy) -> None:
    test = copy.read("pa_test_blind")[0]
    rows = copy.read("pa_train")
    moved = rows[0]["surveyId"]
    for row in rows:
        if row["surveyId"] == moved:
            row["lon"], row["lat"] = test["lon"], test["lat"]
    copy.write("pa_train", rows)


def _near_po(copy: Copy) -> None:
    test = copy.read("pa_test_blind")[0]
    rows = copy.read("po_train")
    lon, lat, _ = pyproj.Geod(ellps="WGS84").fwd(float(test["lon"]), float(test["lat"]), 45, 20)
    rows[0]["lon"], rows[0]["lat"] = f"{lon:.6f}", f"{lat:.6f}"
    copy.write("po_train", rows)


def _survey_in_two_subsets(copy: Copy) -> None:
    rows, test = copy.read("pa_train"), copy.read("pa_test")
    wanted = test[0]["surveyId"]
    rows += [{name: row.get(name, "") for name in rows[0]} for row in test if row["surveyId"] == wanted]
    copy.write("pa_train", sorted(rows, key=lambda row: (int(row["surveyId"]), int(row["speciesId"]))))


def _test_only_species(copy: Copy) -> None:
    new = str(max(int(row["speciesId"]) for row in copy.read("species")) + 1)
    test, solution = copy.read("pa_test"), copy.read("solution")
    target = solution[0]["surveyId"]
    solution[0]["predictions"] += f" {new}"
    extra = dict(next(row for row in test if row["surveyId"] == target), speciesId=new)
    copy.write("pa_test", sorted([*test, extra], key=lambda row: (int(row["surveyId"]), int(row["speciesId"]))))
    copy.write("solution", solution)


def _empty_survey(copy: Copy) -> None:
    solution = copy.read("solution")
    solution[0]["predictions"] = ""
    copy.write("solution", solution)
    copy.write("pa_test", [row for row in copy.read("pa_test") if row["surveyId"] != solution[0]["surveyId"]])


def _label_column(copy: Copy) -> None:
    truth = {row["surveyId"]: row["predictions"] for row in copy.read("solution")}
    copy.write("pa_test_blind", [{**row, "speciesIds": truth[row["surveyId"]]} for row in copy.read("pa_test_blind")])


def _telling_column(copy: Copy) -> None:
    """Let the area follow from how many species were found, as where plots grow until nothing new turns up."""
    truth = {row["surveyId"]: row["predictions"].split() for row in copy.read("solution")}
    richness = {survey: len(species) for survey, species in truth.items()}
    copy.write(
        "pa_test_blind",
        [{**row, "areaInM2": f"{7 * richness[row['surveyId']] + 3}"} for row in copy.read("pa_test_blind")],
    )


def _list_column(copy: Copy) -> None:
    truth = {row["surveyId"]: row["predictions"].replace(" ", ";") for row in copy.read("solution")}
    copy.write("pa_test_blind", [{**row, "region": truth[row["surveyId"]]} for row in copy.read("pa_test_blind")])


def _private_in_public(copy: Copy) -> None:
    shutil.copyfile(copy.path("solution"), copy.folder / "public" / "notes.csv")


def _duplicate_record(copy: Copy) -> None:
    rows, test = copy.read("po_train"), copy.read("pa_test")
    for name in ("lon", "lat", "speciesId", "date", "year", "dayOfYear"):
        if name in rows[0]:
            rows[0][name] = test[0].get(name, rows[0][name])
    copy.write("po_train", rows)


def _wrong_draw(copy: Copy) -> None:
    quadrats = copy.read("quadrats")
    number = "test_number"
    chosen = max((row for row in quadrats if row["subset"] == "train"), key=lambda row: row[number])
    grid, label = copy.grid(), chosen["quadratId"]
    chosen["subset"] = "val"
    copy.write("quadrats", quadrats)
    train, val = copy.read("pa_train"), copy.read("pa_val")
    inside = {row["surveyId"] for row in train if _quadrat(grid, row) == label}
    moved = [row for row in train if row["surveyId"] in inside]
    copy.write("pa_train", [row for row in train if row["surveyId"] not in inside])
    copy.write("pa_val", sorted([*val, *moved], key=lambda row: (int(row["surveyId"]), int(row["speciesId"]))))


def _quadrat(grid: Grid, row: Mapping[str, str]) -> str:
    return grid.assign([float(row["lon"])], [float(row["lat"])]).labels[0]  # type: ignore[arg-type]


def _changed_byte(copy: Copy) -> None:
    path = copy.path("pa_train")
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(bytes(data))


def _missing_row(copy: Copy) -> None:
    copy.write("po_train", copy.read("po_train")[:-1])


def _repeated_id(copy: Copy) -> None:
    rows = copy.read("pa_test_blind")
    copy.write("pa_test_blind", [*rows, rows[-1]])


def _over_an_edge(copy: Copy) -> None:
    """Move the training survey that is nearest to a quadrat's edge 2 m towards it and over it."""
    grid, rows = copy.grid(), copy.read("pa_train")
    nearest = min(rows, key=lambda row: _to_edge(grid, row)[0])
    metres, azimuth = _to_edge(grid, nearest)
    lon, lat, _ = pyproj.Geod(ellps="WGS84").fwd(
        float(nearest["lon"]), float(nearest["lat"]), azimuth, max(2.0, metres * 1.1 + 0.2)
    )
    for row in rows:
        if row["surveyId"] == nearest["surveyId"]:
            row["lon"], row["lat"] = f"{lon:.6f}", f"{lat:.6f}"
    copy.write("pa_train", rows)


def _to_edge(grid: Grid, row: Mapping[str, str]) -> tuple[float, float]:
    """Give the distance to the nearest edge of the quadrat and the azimuth towards it, in the grid's plane."""
    (easting,), (northing,) = grid.project([float(row["lon"])], [float(row["lat"])])  # type: ignore[arg-type]
    east = (easting - grid.origin[0]) % grid.size_m
    north = (northing - grid.origin[1]) % grid.size_m
    return min((east, 270.0), (grid.size_m - east, 90.0), (north, 180.0), (grid.size_m - north, 0.0))


FAULTS: Mapping[str, Fault] = {
    "shared-quadrat": Fault("quadrats_in_one_subset", "a training survey lies in a test quadrat", _shared_quadrat),
    "near-po": Fault("po_outside_radius", "a presence-only record lies 20 m from a test survey", _near_po),
    "survey-in-two-subsets": Fault(
        "surveys_in_one_subset", "a test survey stands in the training table too", _survey_in_two_subsets
    ),
    "test-only-species": Fault(
        "test_species_known", "a test label is a species that nothing else has", _test_only_species
    ),
    "empty-survey": Fault("no_empty_test_survey", "a test survey has no species left", _empty_survey),
    "label-column": Fault("no_label_in_blind", "the blinded table has a column of species", _label_column),
    "telling-column": Fault(
        "no_label_in_blind", "an innocent column of the blinded table tells how many species there are", _telling_column
    ),
    "list-column": Fault(
        "no_label_in_blind", "an innocent column of the blinded table lists the species", _list_column
    ),
    "private-in-public": Fault(
        "nothing_private_in_public", "the solution lies in public/ under another name", _private_in_public
    ),
    "duplicate-record": Fault(
        "no_duplicate_across_subsets", "a test record stands among the presence-only records", _duplicate_record
    ),
    "wrong-draw": Fault("draw_rederives", "a quadrat with a large number was made a validation quadrat", _wrong_draw),
    "changed-byte": Fault("files_match_manifest", "one bit of a file was flipped", _changed_byte, mends=False),
    "missing-row": Fault("counts_add_up", "the last presence-only record is missing", _missing_row),
    "repeated-id": Fault("ids_agree", "a row of the blinded table stands there twice", _repeated_id),
    "over-an-edge": Fault("counts_add_up", "the survey nearest to an edge was moved 2 m over it", _over_an_edge),
}
"""Every fault that can be planted, by name."""
