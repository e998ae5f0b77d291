"""What a table is, put together from its header, its counts and what can be guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spatialsplit.describing.counting import LISTED, Counts, Suspicion
from spatialsplit.describing.drafting import Draft, draft_recipe, missing_columns, species_columns
from spatialsplit.describing.mapping import Guess, guess_columns
from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.tables import Dialect, TableInput
from spatialsplit.tables.csv_files import CsvFile
from spatialsplit.tables.parquet_files import ParquetFile


@dataclass(frozen=True)
class Description:
    """What is in a table as we would read it.

    Attributes
    ----------
    name : str
    rows : int
    columns : list of str
        The header.
    dialect : dict
        How it is written.
    mapped : dict of str to str
        Our name of a column to the file's.
    missing : dict of str to int
        Empty cells of each mapped column.
    extent : list of float, optional
        West, south, east, north, in the file's own coordinates.
    crs, crs_reason : str
        What the coordinates are taken for, and why; None where nothing tells.
    time : dict
        First and last day and year, where they are known.
    species : int, optional
        Distinct species.
    values : dict of str to (dict of str to int)
        How often each licence, basis of record and the like occurs.
    suspicions : list of Suspicion
    recipe : str
        TOML to start from.
    species_columns : list of str
        Of a wide table: the columns that hold nothing but 0 and 1.
    questions : list of str
        What a build has to know and the table does not tell.
    """

    name: str
    rows: int
    columns: list[str]
    dialect: dict[str, Any]
    mapped: dict[str, str]
    missing: dict[str, int]
    missing_coordinates: int
    extent: list[float] | None
    crs: str | None
    crs_reason: str
    time: dict[str, Any]
    species: int | None
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    suspicions: list[Suspicion] = field(default_factory=list)
    recipe: str = ""
    species_columns: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values, for JSON."""
        suspicions = [{"name": each.name, "count": each.count, "says": each.says} for each in self.suspicions]
        return {**vars(self), "suspicions": suspicions}


def describe_table(
    path: Path | str, columns: Mapping[str, str] | None = None, dialect: Dialect | None = None
) -> Description:
    r"""Look through a table and say what is in it.

    Choose it first, for any table that is new to you. It reads the whole table once, in bounded memory.

    Parameters
    ----------
    path : path
        Anything that a build reads.
    columns : mapping of str to str, optional
        Our name of a column to the file's, where you know better.
    dialect : Dialect, optional

    Raises
    ------
    DataError
        It cannot be read as a table.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "po.csv"
    >>> _ = path.write_text("decimalLatitude;decimalLongitude;species_id\n45.12;5.34;7\n")
    >>> found = describe_table(path)
    >>> found.mapped
    {'lon': 'decimalLongitude', 'lat': 'decimalLatitude', 'speciesId': 'species_id'}
    >>> found.crs, found.extent
    ('EPSG:4326', [5.34, 45.12, 5.34, 45.12])
    """
    return describe_tables([path], columns, dialect)[0][0]


def describe_tables(
    paths: Sequence[Path | str],
    columns: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    folder: Path = Path(),
) -> tuple[list[Description], str]:
    """Look through tables that belong together; give what is in each, and one recipe for all.

    Parameters
    ----------
    paths : sequence of path
        Such as surveys and presence-only records.
    columns, dialect
        As for `describe_table`, of every table.
    folder : path
        Where the recipe will lie.
    """
    drafts = [_look_through(Path(path), columns or {}, dialect) for path in paths]
    for name, theirs in (columns or {}).items():
        if not any(theirs in draft.source.header for draft in drafts):
            header = list(dict.fromkeys(each for draft in drafts for each in draft.source.header))
            raise DataError(
                f"No column '{shown(theirs)}' (for '{shown(name)}'). There are: {first_few(header, shown=12)}."
            )
    return [_describe(draft) for draft in drafts], draft_recipe(drafts, folder)


def _look_through(path: Path, columns: Mapping[str, str], dialect: Dialect | None) -> Draft:
    source = TableInput(path, dialect, hashed=False)
    named = {name: theirs for name, theirs in columns.items() if theirs in source.header}
    guess = guess_columns(source.header, named, darwin_core=source.darwin_core)
    counts = _count(source, guess)
    return Draft(path, source, guess, counts, _crs(source, counts, guess)[0])


def _describe(draft: Draft) -> Description:
    source, guess, counts = draft.source, draft.guess, draft.counts
    crs, reason = _crs(source, counts, guess)
    species = len(counts.species) if "speciesId" in guess.names else None
    return Description(
        source.name,
        counts.n_rows,
        list(source.header),
        _dialect(source),
        dict(guess.names),
        {name: counts.missing[name] for name in guess.names},
        counts.odd["missing_coordinate"],
        counts.box if counts.box[0] <= counts.box[2] else None,
        crs,
        reason,
        _time(counts),
        species,
        {name: dict(sorted(counter.items())) for name, counter in counts.values.items()},
        _suspicions(counts, crs),
        draft_recipe([draft]),
        species_columns(draft),
        _questions(draft, crs),
    )


def _questions(draft: Draft, crs: str | None) -> list[str]:
    """Ask what a build has to know and the table does not tell."""
    names = {"lon": "longitude (or easting)", "lat": "latitude (or northing)", "speciesId": "species"}
    asked = [f"Which column is the {names[name]}? Say --column {name}=NAME." for name in missing_columns(draft)]
    box = draft.counts.box
    if crs is None and box[0] <= box[2]:
        asked.append('Which CRS do the coordinates have? Say crs = "EPSG:…" in the recipe.')
    return asked


def _count(source: TableInput, guess: Guess) -> Counts:
    names = {name: source.header.index(theirs) for name, theirs in guess.names.items()}
    spelled = [(name, each) for name in LISTED for each in (name.lower(), name) if each in source.header]
    listed = {name: source.header.index(each) for name, each in spelled}  # GBIF's snapshots write them in lower case
    may_be_wide = "speciesId" not in names
    binary = {i for i in range(len(source.header)) if i not in names.values()} if may_be_wide else set()
    counts = Counts(names, listed, binary)
    for batch in source.batches(allow_empty=True):
        counts.add(batch)
    counts.finish()
    if not counts.n_rows:
        counts.binary.clear()
    return counts


def _dialect(source: TableInput) -> dict[str, Any]:
    file = source.files[0]
    if not isinstance(file, CsvFile):
        archive = source.darwin_core and not isinstance(file, ParquetFile)
        kind = "darwin core archive" if archive else (file.path.suffix.lstrip(".") or "parquet")
        return {"format": kind, "files": len(source.files)}
    return {
        "format": "text",
        "files": len(source.files),
        "separator": file.separator,
        "encoding": file.dialect.encoding,
        "quoted": file.quoted,
        "packed": file.packing.kind if file.packing else "plain",
        "darwin_core": source.darwin_core,
    }


def _crs(source: TableInput, counts: Counts, guess: Guess) -> tuple[str | None, str]:
    if source.crs is not None:
        return source.crs, "the file says so"
    if guess.crs is not None:
        return guess.crs, f"the columns' names {guess.names['lon']} and {guess.names['lat']} say so"
    if not {"lon", "lat"} <= guess.names.keys():
        return None, "no columns of coordinates were found"
    if counts.box[0] > counts.box[2]:
        return None, "there are no coordinates"
    what = f"{guess.names['lon']} and {guess.names['lat']}"
    if counts.metres * 2 > counts.n_rows - counts.odd["missing_coordinate"]:
        return None, f"{what} look like metres, and nothing in the file says of which CRS: ask its publisher"
    if {"lon", "lat"} & guess.loose and counts.odd["out_of_range"]:
        return None, f"{what} are not all degrees, and nothing in the file says which CRS they have"
    return "EPSG:4326", f"{what} lie within 180 and 90, as degrees do, and WGS84 is the custom"


def _time(counts: Counts) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if counts.last_year:
        found |= {"first_year": counts.first_year, "last_year": counts.last_year}
    if counts.last_day:
        found |= {"first_day": _day(counts.first_day), "last_day": _day(counts.last_day)}
    if counts.zones:
        found["seconds_agree_in"] = dict(counts.zones)
    return found


def _day(code: int) -> str:
    import datetime as dt

    return (dt.date(code // 1000, 1, 1) + dt.timedelta(days=code % 1000 - 1)).isoformat()


def _suspicions(counts: Counts, crs: str | None) -> list[Suspicion]:
    """Leave out what metres cannot be: out of the range of degrees, or coarse in tenths of them."""
    of_degrees = {"out_of_range", "swapped_axes", "coarse_coordinates"}
    degrees = crs is not None and counts.metres == 0
    return [each for each in counts.suspicions() if degrees or each.name not in of_degrees]
