"""A dataset's `croissant.json`: Croissant 1.1, so that machine-learning tools find, check and load its public tables.

Each public file is a FileObject with its SHA-256, each table a RecordSet, the subsets are a RecordSet of type cr:Split
that the others refer to. What there is to describe stands in `described`. The format: https://docs.mlcommons.org/croissant.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spatialsplit.errors import RecipeError, shown
from spatialsplit.exports.described import (
    DescribedColumn,
    DescribedFile,
    Description,
    describe_dataset,
    record_sources,
)
from spatialsplit.exports.frictionless import datapackage
from spatialsplit.publishing import new_files

Json = dict[str, Any]

VERSION = "http://mlcommons.org/croissant/1.1"

CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The names that every Croissant file declares; a reader warns where one is missing."""

TYPES = {"integer": "sc:Integer", "number": "sc:Float", "text": "sc:Text"}

SPLITS = {"train": "cr:TrainingSplit", "val": "cr:ValidationSplit", "test": "cr:TestSplit"}

NEEDED = {
    "license": 'license = "CC-BY-4.0"',
    "citation": 'citation = "…"',
    "version": 'version = "1.0.0"',
    "date_published": 'date_published = "2026-01-31"',
}
"""Keys of [about] that a Croissant reader warns about where they are missing, with a form to fill in."""

WISHED = {"description": 'description = "…"', "url": 'url = "https://…"', "creators": 'creators = ["…"]'}
"""Keys of [about] that the format wants as well, though its readers let them pass."""

SEMANTIC_VERSION = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)(\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?)?)?",
    re.ASCII,
)


@dataclass(frozen=True)
class Described:
    """What was written, and what a person may want to know of it.

    Attributes
    ----------
    files : list of path
    notes : list of str
        A line each: what would make the description better.
    """

    files: list[Path]
    notes: list[str]


def export_croissant(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    base_url: str | None = None,
    frictionless: bool = False,
) -> Described:
    """Write the Croissant description of a built dataset's public files.

    It passes `mlcroissant validate` without an error or a warning, and its record sets load where the files are.
    Licence, citation, version and date come from the recipe's [about].

    Parameters
    ----------
    data : path
        The folder that `spatialsplit build` wrote.
    out : path
        The file to write, as `croissant.json`. It names the tables by the way from its own folder to them.
    base_url : str, optional
        What stands before each file's name instead, as `https://example.org/files/`; `""` where the description will
        lie beside the files.
    frictionless : bool
        Write a Frictionless `datapackage.json` beside it.

    Returns
    -------
    Described

    Raises
    ------
    RecipeError
        A line for each key that [about] lacks, or that is not what the format takes.
    ManifestError
        The folder is no dataset, or its public files are not those of its manifest.
    OutputError
        The file cannot be written.
    """
    target = Path(out)
    description = describe_dataset(data)
    problems = [*_missing(description), *_malformed(description)]
    if problems:
        raise RecipeError(problems)
    prefix = _way(target, Path(data)) if base_url is None else base_url
    texts = {target: croissant(description, prefix)}
    if frictionless:
        texts[target.with_name("datapackage.json")] = datapackage(description, prefix)
    with new_files(*texts) as parts:
        for part, content in zip(parts, texts.values(), strict=True):
            part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8", newline="\n")
    return Described(list(texts), _notes(description))


def _way(target: Path, data: Path) -> str:
    """Give the way from a file's folder to the public files, with a slash at its end; nothing where it is there."""
    way = os.path.relpath(os.path.realpath(data / "public"), os.path.realpath(target.parent))
    return "" if way == "." else Path(way).as_posix() + "/"


def _missing(description: Description) -> Iterator[str]:
    for key, form in NEEDED.items():
        if not description.about.get(key):
            yield (
                f"No '{key}' in [about] of the recipe. A Croissant description without it is not complete. Add {form} "
                "under [about], and build again."
            )


def _malformed(description: Description) -> Iterator[str]:
    version, date = (str(description.about.get(key) or "") for key in ("version", "date_published"))
    if version and not SEMANTIC_VERSION.fullmatch(version):
        yield (
            f"Invalid version '{shown(version)}' in [about] of the recipe. It must be MAJOR.MINOR.PATCH, as 1.0.0. "
            "Correct it, and build again."
        )
    if date and not _is_day(date):
        yield (
            f"Invalid date_published '{shown(date)}' in [about] of the recipe. It must be a day, as 2026-01-31. "
            "Correct it, and build again."
        )


def _is_day(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2026-01-31")


def _notes(description: Description) -> list[str]:
    wished = [
        f"[about] has no '{key}', which the format wants though its readers let it pass: {form}."
        for key, form in WISHED.items()
        if not description.about.get(key)
    ]
    unread = [
        f"{file.name} has quotation marks, commas and tabs between semicolons, which no Croissant reader takes apart: "
        "it is described as a file, without a record set."
        for file in record_sources(description.files)
        if not _readable(file)
    ]
    return wished + unread


def croissant(description: Description, prefix: str = "") -> Json:
    """Give the description as Croissant JSON-LD.

    Parameters
    ----------
    description : Description
    prefix : str
        What stands before each file's name in its `contentUrl`.
    """
    about = description.about
    dataset: Json = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": about.get("title") or description.name,
        "description": about.get("description") or description.summary,
        "license": about["license"],
        "url": about.get("url"),
        "creator": [{"@type": "sc:Person", "name": name} for name in about.get("creators") or []],
        "citeAs": about["citation"],
        "datePublished": about["date_published"],
        "version": about["version"],
        "distribution": [_file_object(file, prefix) for file in description.files],
        "recordSet": [
            _splits(description.subsets),
            *(_record_set(file) for file in record_sources(description.files) if _readable(file)),
        ],
    }
    return {key: value for key, value in dataset.items() if value}


def _file_object(file: DescribedFile, prefix: str) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": quote(file.name),
        "name": file.name,
        "description": file.about,
        "contentUrl": prefix + file.name,
        "contentSize": f"{file.n_bytes} B",
        "encodingFormat": _encoding(file),
        "sha256": file.sha256,
    }


def _encoding(file: DescribedFile) -> str:
    """Give the format that a reader takes the file for.

    Croissant knows comma and tab. A file with semicolons is a table of one column for both, whose cells `_extract`
    takes apart: with the one of them that it holds nowhere.
    """
    if file.separator == ";" and "," in file.marks:
        return "text/tab-separated-values"
    return "text/tab-separated-values" if file.separator == "\t" else file.format


def _readable(file: DescribedFile) -> bool:
    """Whether a reader of comma- and tab-separated tables can take the file apart."""
    return file.separator != ";" or not ('"' in file.marks or {",", "\t"} <= file.marks)


def _splits(subsets: list[str]) -> Json:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "description": "The subsets: what to train on, what to validate with, what to predict.",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [
            _field("splits/name", "The subset's name.", "sc:Text"),
            _field("splits/url", "What the subset is for.", ["sc:URL", "cr:Split"]),
        ],
        "data": [{"splits/name": name, "splits/url": SPLITS[name]} for name in subsets],
    }


def _field(identifier: str, about: str, kind: str | list[str], **more: Any) -> Json:
    name = identifier.partition("/")[2]
    return {"@type": "cr:Field", "@id": identifier, "name": name, "description": about, "dataType": kind, **more}


def _record_set(file: DescribedFile) -> Json:
    identifier = quote(file.stem)
    names = [column.name for column in file.columns]
    fields = [
        _column_field(file, column)
        for column in file.columns
        if column.name and names.index(column.name) == column.position
    ]
    if file.subset is not None:
        fields.append(
            _field(f"{identifier}/split", "The subset of every row.", "sc:Text", value=file.subset, **_TO_SPLITS)
        )
    key = [{"@id": _field_id(file, column)} for column in file.key]
    return {
        "@type": "cr:RecordSet",
        "@id": identifier,
        "name": file.stem,
        "description": file.about,
        **({"key": key if len(key) > 1 else key[0]} if key else {}),
        "field": fields,
    }


_TO_SPLITS: Json = {"references": {"field": {"@id": "splits/name"}}}


def _field_id(file: DescribedFile, column: DescribedColumn) -> str:
    return f"{quote(file.stem)}/{quote(column.name, safe='')}"


def _column_field(file: DescribedFile, column: DescribedColumn) -> Json:
    taken_apart, is_subset = file.separator == ";", column.means == "subset"
    kind = column.type if column.required or not taken_apart else "text"  # what is taken apart is empty text, not none
    field = _field(
        _field_id(file, column),
        column.about,
        [TYPES[kind], "cr:Split"] if is_subset else TYPES[kind],
        source={"fileObject": {"@id": quote(file.name)}, **_extract(file, column)},
        **(_TO_SPLITS if is_subset and not taken_apart else {}),  # a join would put one cell in the whole row's place
    )
    return {**field, "name": column.name}


def _extract(file: DescribedFile, column: DescribedColumn) -> Json:
    """Say where in the file a column is: by its name, or by its place between semicolons."""
    if file.separator != ";":
        return {"extract": {"column": column.name}}
    header = ";".join(each.name for each in file.columns)
    cell = f"(?:[^;]*;){{{column.position}}}([^;]*)"
    return {"extract": {"column": header}, "transform": {"regex": cell}}
