"""Darwin Core: which table is one, which of its terms are needed, and what `meta.xml` says of an archive.

GBIF's tables are tab-separated and not quoted, whatever they are called; a quotation mark in them is a character. Of
their 50 to 260 columns a benchmark needs a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from spatialsplit.errors import DataError, shown
from spatialsplit.tables.files import SEPARATORS

MARKS = frozenset(
    {"basisOfRecord", "occurrenceID", "decimalLatitude", "scientificName", "eventDate", "institutionCode"}
)
"""Terms of which a table of Darwin Core has several."""

TERMS = (
    "gbifID",
    "occurrenceID",
    "eventID",
    "parentEventID",
    "datasetKey",
    "datasetName",
    "license",
    "rightsHolder",
    "basisOfRecord",
    "occurrenceStatus",
    "recordedBy",
    "countryCode",
    "decimalLatitude",
    "decimalLongitude",
    "coordinateUncertaintyInMeters",
    "geodeticDatum",
    "eventDate",
    "startDayOfYear",
    "year",
    "month",
    "day",
    "taxonRank",
    "scientificName",
    "speciesKey",
    "species",
    "issue",
)
"""The terms that are read of a table of Darwin Core unless more are asked for."""

EVENT, OCCURRENCE = "Event", "Occurrence"

ENCLOSED, NOT_ENCLOSED = ('"', '\\"'), ("", "&#0;", "\\0")
"""How `meta.xml` says that a quotation mark encloses cells, or that nothing does."""


def is_darwin_core(header: Sequence[str], separator: str) -> bool:
    r"""Tell by its header whether a text table is GBIF's or another one in Darwin Core.

    Examples
    --------
    >>> is_darwin_core(["gbifID", "decimalLatitude"], "\t"), is_darwin_core(["lon", "lat"], "\t")
    (True, False)
    """
    return separator == "\t" and ("gbifID" in header or len(MARKS & set(header)) >= 3)


def has_terms(header: Sequence[str]) -> bool:
    """Tell by its columns whether a typed table is in Darwin Core; GBIF's snapshots have the terms in lower case.

    Examples
    --------
    >>> has_terms(["gbifid", "specieskey"]), has_terms(["lon", "lat", "eventDate"])
    (True, False)
    """
    folded = {name.casefold() for name in header}
    return "gbifid" in folded or len({mark.casefold() for mark in MARKS} & folded) >= 3


@dataclass(frozen=True)
class MetaTable:
    """What `meta.xml` says of one table of an archive.

    Attributes
    ----------
    location : str
        The file.
    row_type : str
        The last part of its URI, such as Occurrence.
    id_index : int
        Position of the column that ties tables together.
    terms : dict of int to str
        Term of each position.
    defaults : dict of str to str
        Terms that have one value in all rows.
    where_empty : dict of str to str
        Terms whose empty cells have a value.
    """

    location: str
    row_type: str
    separator: str
    quoted: bool
    encoding: str
    header_lines: int
    id_index: int
    terms: dict[int, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    where_empty: dict[str, str] = field(default_factory=dict)

    def header(self, width: int) -> list[str]:
        """Name the columns of a file that is so many wide; those without a term have no name."""
        named = [self.terms.get(i, "") for i in range(max(width, *(i + 1 for i in self.terms), self.id_index + 1))]
        if not named[self.id_index]:
            named[self.id_index] = "id"
        return named


@dataclass(frozen=True)
class Meta:
    """What `meta.xml` says: the core table, and its extensions."""

    core: MetaTable
    extensions: list[MetaTable]


def read_meta(content: bytes, where: str) -> Meta:
    """Read a `meta.xml`.

    Raises
    ------
    DataError
        It is no description of an archive.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataError(f"meta.xml of {where} declares entities, which none needs. It is not read. Check its source.")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise DataError(f"meta.xml of {where} is no XML ({shown(error)}). Fetch the archive again.") from None
    tables: dict[str, list[MetaTable]] = {"core": [], "extension": []}
    for element in root:
        kind = _plain(element.tag)
        if kind in tables:
            tables[kind].append(_read_table(element, where))
    if len(tables["core"]) != 1:
        raise DataError(
            f"meta.xml of {where} has {len(tables['core'])} core tables. An archive has one. Check its source."
        )
    return Meta(tables["core"][0], tables["extension"])


def _plain(name: str) -> str:
    """Cut the namespace from a tag, or all but the last part from a URI."""
    return name.rsplit("}", 1)[-1].rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1]


def _read_table(element: ElementTree.Element, where: str) -> MetaTable:
    locations = [node.text or "" for node in element.iter() if _plain(node.tag) == "location"]
    if len(locations) != 1:
        raise DataError(
            f"meta.xml of {where} gives {len(locations)} files for one table. One is read. Join them, or name the "
            "files themselves."
        )
    get = element.attrib.get
    separator = _unescaped(get("fieldsTerminatedBy", ","))
    if separator not in SEPARATORS:
        raise DataError(
            f"The cells of {locations[0]} in {where} are separated by {separator!r}. It must be one of ',' ';' and "
            "tab. Convert the table."
        )
    enclosed = get("fieldsEnclosedBy", '"')
    if enclosed not in (*ENCLOSED, *NOT_ENCLOSED):
        raise DataError(
            f"The cells of {locations[0].strip()} in {where} are enclosed by {enclosed!r}. It must be a quotation mark "
            '(") or nothing. Convert the table.'
        )
    terms, defaults, id_index = _fields(element, where)
    constant = {term: value for term, value in defaults.items() if term not in terms.values()}
    return MetaTable(
        locations[0].strip(),
        _plain(get("rowType", "")),
        separator,
        enclosed in ENCLOSED,
        get("encoding", "utf-8"),
        _whole(get("ignoreHeaderLines", "0"), where),
        id_index,
        terms,
        constant,
        {term: value for term, value in defaults.items() if term not in constant},
    )


def _fields(element: ElementTree.Element, where: str) -> tuple[dict[int, str], dict[str, str], int]:
    """Give the term of each position, the values that terms have where a row says none, and the position of the id."""
    terms: dict[int, str] = {}
    defaults: dict[str, str] = {}
    id_index = 0
    for node in element:
        kind, index, term = _plain(node.tag), node.attrib.get("index"), _plain(node.attrib.get("term", ""))
        if kind in ("id", "coreid"):
            id_index = _whole(index or "0", where)
        elif kind == "field":
            if index is not None:
                terms[_whole(index, where)] = term
            if "default" in node.attrib:
                defaults[term] = node.attrib["default"]
    return terms, defaults, id_index


def _whole(text: str, where: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise DataError(
            f"meta.xml of {where} counts columns or header lines with '{shown(text)}'. It must be a whole number from "
            "0. Ask the publisher to mend the archive."
        )
    return int(text)


def _unescaped(text: str) -> str:
    return text.replace("\\t", "\t").replace("\\n", "\n")
