"""A built dataset → what a model is trained, validated and tested on.

Read are the files that participants are given, in any of the layouts, by their names; nothing private is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spatialsplit.columns import find_columns
from spatialsplit.errors import DataError
from spatialsplit.layouts import LAYOUTS
from spatialsplit.manifest import read_whole_manifest
from spatialsplit.occurrences.cells import cell_texts
from spatialsplit.occurrences.coordinates import FOUND, parse_numbers
from spatialsplit.tables import TableInput

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

FILES = {
    role: tuple(dict.fromkeys(Path(layout[role].name).stem for layout in LAYOUTS.values()))
    for role in ("pa_train", "pa_val", "po_train", "pa_test_blind")
}
"""The file that plays each role, by its name in each layout. A file with a column `subset` holds train and val."""

ID_COLUMNS = ("surveyId", "Id", "observation_id")
KEYS = ("patchID", "dayOfYear")


@dataclass(frozen=True)
class Surveys:
    """Surveys with the species they found; a presence-only record is a survey of one species.

    Attributes
    ----------
    ids : array of str, shape (n,)
        Empty text where the file has no id.
    patch_ids : array of str, shape (n,)
        The column patchID; the id where there is none.
    lon, lat : array of float, shape (n,)
        Degrees, of the survey's first row.
    row : array of int, shape (n_pairs,)
        Which survey each label belongs to, increasing.
    species : array of int, shape (n_pairs,)
        Increasing within a survey, each once.
    """

    ids: npt.NDArray[np.str_]
    patch_ids: npt.NDArray[np.str_]
    lon: Floats
    lat: Floats
    row: Integers
    species: Integers

    def __len__(self) -> int:
        return len(self.lon)

    @property
    def n_species(self) -> Integers:
        """How many species each survey found."""
        return np.bincount(self.row, minlength=len(self))

    def labels(self) -> list[list[int]]:
        """Give each survey's species as a list."""
        ends = np.cumsum(self.n_species)
        return [part.tolist() for part in np.split(self.species, ends[:-1])]

    def take(self, keep: npt.NDArray[np.bool_]) -> Surveys:
        """Give the surveys that are marked, with their labels."""
        number = np.cumsum(keep) - 1
        pairs = keep[self.row]
        return Surveys(
            self.ids[keep],
            self.patch_ids[keep],
            self.lon[keep],
            self.lat[keep],
            number[self.row[pairs]],
            self.species[pairs],
        )


def joined(parts: Sequence[Surveys]) -> Surveys:
    """Put surveys of several files one after the other."""
    shifts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    return Surveys(
        ids=np.concatenate([part.ids for part in parts]),
        patch_ids=np.concatenate([part.patch_ids for part in parts]),
        lon=np.concatenate([part.lon for part in parts]),
        lat=np.concatenate([part.lat for part in parts]),
        row=np.concatenate([part.row + shift for part, shift in zip(parts, shifts, strict=True)]),
        species=np.concatenate([part.species for part in parts]),
    )


@dataclass(frozen=True)
class BuiltDataset:
    """A dataset folder, as `spatialsplit build` writes it, or its `public` half alone.

    Parameters
    ----------
    folder : path

    Raises
    ------
    DataError
        When a file is asked for that is not there.
    """

    folder: Path

    @cached_property
    def public(self) -> Path:
        """The folder of the participants' files."""
        return self.folder / "public" if (self.folder / "public").is_dir() else self.folder

    @cached_property
    def _recipe(self) -> dict[str, Any]:
        for place in (self.folder, self.folder.parent):
            if (place / "manifest.json").is_file() and (self.folder == place or self.folder.name == "public"):
                recipe: dict[str, Any] = read_whole_manifest(place)["recipe"]
                return recipe
        return {}

    @property
    def metric(self) -> str:
        """The metric of the manifest; without one, that of the layout's year."""
        named = self._recipe.get("evaluation", {}).get("metric")
        one_label = self.path("pa_test_blind").stem == "observations_test"
        return str(named) if named else "top_k_error" if one_label else "f1_samples"

    @property
    def metric_options(self) -> dict[str, Any]:
        """The metric's options of the manifest."""
        return dict(self._recipe.get("evaluation", {}).get("options", {}))

    def path(self, role: str) -> Path:
        """Give the file that plays a role.

        Raises
        ------
        DataError
            There is none.
        """
        path = self._find(role)
        if path is None:
            names = " or ".join(f"{name}.csv" for name in FILES[role])
            raise DataError(
                f"No {names} in {self.public}. --data is a folder that spatialsplit build wrote, or its public half. "
                "Correct the path."
            )
        return path

    def _find(self, role: str) -> Path | None:
        candidates = (self.public / f"{name}{ending}" for name in FILES[role] for ending in (".csv", ".parquet"))
        return next((path for path in candidates if path.is_file()), None)

    @cached_property
    def test(self) -> Surveys:
        """The test surveys, without species."""
        return read_surveys(self.path("pa_test_blind"), with_species=False)[0]

    @cached_property
    def train_surveys(self) -> Surveys | None:
        """The training surveys, or None where the dataset has none."""
        return self._subset("pa_train", "train")

    @cached_property
    def val(self) -> Surveys | None:
        """The validation surveys, or None where the dataset has none."""
        path = self._find("pa_val")
        return read_surveys(path)[0] if path else self._subset("pa_train", "val")

    @cached_property
    def train_records(self) -> Surveys | None:
        """The presence-only records, or None where the dataset has none."""
        path = self._find("po_train")
        return read_surveys(path, each_row=True)[0] if path else None

    def _subset(self, role: str, subset: str) -> Surveys | None:
        path = self._find(role)
        if path is None:
            return None
        surveys, subsets = self._with_subsets(path)
        if subsets is None:
            return surveys if subset == "train" else None
        chosen = surveys.take(subsets == subset)
        return chosen if len(chosen) else None

    def _with_subsets(self, path: Path) -> tuple[Surveys, npt.NDArray[np.str_] | None]:
        known = self.__dict__.setdefault("_read", {})
        if path not in known:
            known[path] = read_surveys(path)
        result: tuple[Surveys, npt.NDArray[np.str_] | None] = known[path]
        return result

    def training(self, source: str | None = None) -> tuple[Surveys, str]:
        """Give what a model is trained on.

        Parameters
        ----------
        source : {'surveys', 'records', 'both'}, optional
            Presence-absence, presence-only or both. Surveys where not given, records where there are none: surveys tell
            what grows together and how often, records are many and follow people.

        Returns
        -------
        surveys : Surveys
        source : str
            What they are, in words.

        Raises
        ------
        DataError
            The dataset has none of these.
        """
        kinds = {"surveys": self.train_surveys, "records": self.train_records}
        there = [kind for kind, surveys in kinds.items() if surveys is not None]
        wanted = list(kinds) if source == "both" else [source] if source else there[:1]
        lacking = [kind for kind in wanted if kinds[kind] is None]
        if lacking or not wanted:
            has = " and ".join(there) or "neither surveys nor records"
            raise DataError(
                f"No training {' and '.join(lacking or kinds)} in {self.public}, which has {has}. "
                "Choose what to train on: --train."
            )
        parts = [part for kind in wanted if (part := kinds[kind]) is not None]
        return joined(parts), " and ".join(wanted)


def read_surveys(
    path: Path, *, with_species: bool = True, each_row: bool = False
) -> tuple[Surveys, npt.NDArray[np.str_] | None]:
    """Read a table of labels, a row a survey and species.

    Parameters
    ----------
    path : path
    with_species : bool
        False for a blinded table.
    each_row : bool
        Each row is its own survey, as with presence-only records.

    Returns
    -------
    surveys : Surveys
        In the order in which they first come.
    subsets : array of str, shape (n,), optional
        The column `subset` of each, where there is one.
    """
    table = TableInput(path)
    wanted = ["lon", "lat", *(["speciesId"] if with_species else [])]
    optional = [*ID_COLUMNS, *KEYS, *(["subset"] if with_species else [])]
    found = find_columns(table.header, wanted, optional=optional, where=table.name)
    columns: dict[str, list[Any]] = {name: [] for name in found}
    for batch in table.batches():
        for name, position in found.items():
            columns[name].append(_cells(name, batch.column(position)))
    cells = {name: np.concatenate(parts) for name, parts in columns.items()}
    return _grouped(cells, each_row)


def _cells(name: str, cells: pa.Array) -> npt.NDArray[Any]:
    if name in ("lon", "lat"):
        return parse_numbers(cells)[0]
    if name == "speciesId":
        values, states = parse_numbers(cells)
        if (states != FOUND).any() or (values != np.rint(values)).any():
            raise DataError("A species in speciesId is no whole number. A built dataset numbers them: build it again.")
        return values.astype(np.int64)
    texts: npt.NDArray[np.str_] = np.array(cell_texts(cells).to_pylist(), dtype=np.str_)
    return texts


def _grouped(cells: dict[str, npt.NDArray[Any]], each_row: bool) -> tuple[Surveys, npt.NDArray[np.str_] | None]:
    ids = next((cells[name] for name in ID_COLUMNS if name in cells), None)
    first, number = _groups(None if each_row else ids, cells, each_row)
    n_surveys = len(first)
    named = ids[first] if ids is not None else np.full(n_surveys, "", dtype=np.str_)
    pairs = np.unique(np.stack([number, cells.get("speciesId", number)]), axis=1) if "speciesId" in cells else _NONE
    patch_ids = cells["patchID"][first] if "patchID" in cells else named
    surveys = Surveys(named, patch_ids, cells["lon"][first], cells["lat"][first], pairs[0], pairs[1])
    return surveys, cells["subset"][first] if "subset" in cells else None


_NONE = np.zeros((2, 0), dtype=np.int64)


def _groups(
    ids: npt.NDArray[Any] | None, cells: dict[str, npt.NDArray[Any]], each_row: bool
) -> tuple[Integers, Integers]:
    """Give the first row of each survey, and the number of the survey of each row."""
    if ids is None and not each_row and all(key in cells for key in KEYS):
        ids = np.char.add(np.char.add(cells["patchID"], "|"), cells["dayOfYear"])
    if ids is None:
        return np.arange(len(cells["lon"])), np.arange(len(cells["lon"]))
    _, first, number = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number]
