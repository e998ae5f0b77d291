"""A dataset's `datapackage.json`: the public tables as a Frictionless Data Package, from the same description.

The format: https://specs.frictionlessdata.io (Data Package 1, Table Schema 1, CSV Dialect 1).
"""

from __future__ import annotations

import re
from typing import Any

from spatialsplit.errors import OutputError
from spatialsplit.exports.described import DescribedColumn, DescribedFile, Description

Json = dict[str, Any]


def datapackage(description: Description, prefix: str = "") -> Json:
    """Give the description as a Data Package.

    Parameters
    ----------
    description : Description
    prefix : str
        What stands before each file's name in its `path`.

    Raises
    ------
    OutputError
        The files lie outside the description's folder, which the format forbids.
    """
    if prefix.startswith(("../", "/")):
        raise OutputError(
            f"A datapackage.json may name files in its own folder or below, not {prefix}…. Write it into the dataset's "
            "folder or above, or say --base-url."
        )
    about = description.about
    package: Json = {
        "profile": "tabular-data-package",
        "name": re.sub(r"[^a-z0-9._-]", "-", description.name.lower()),
        "title": about.get("title"),
        "description": about.get("description") or description.summary,
        "homepage": about.get("url"),
        "version": about.get("version"),
        "created": f"{about['date_published']}T00:00:00Z" if about.get("date_published") else None,
        "licenses": [_licence(about["license"])] if about.get("license") else None,
        "contributors": [{"title": name, "role": "author"} for name in about.get("creators") or []],
        "sources": [{"title": about["citation"]}] if about.get("citation") else None,
        "resources": [_resource(file, prefix) for file in description.files if file.format == "text/csv"],
    }
    return {key: value for key, value in package.items() if value}


def _licence(text: str) -> Json:
    if text.startswith(("http://", "https://")):
        return {"path": text}
    return {"name": text} if re.fullmatch(r"[-a-zA-Z0-9._]+", text) else {"name": "other-open", "title": text}


def _resource(file: DescribedFile, prefix: str) -> Json:
    schema: Json = {"fields": [_field(column) for column in file.columns], "missingValues": [""]}
    if file.key:
        schema["primaryKey"] = [column.name for column in file.key]
    return {
        "profile": "tabular-data-resource",
        "name": re.sub(r"[^a-z0-9._-]", "-", file.stem.lower()),
        "path": prefix + file.name,
        "title": file.stem,
        "description": file.about,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file.n_bytes,
        "hash": f"sha256:{file.sha256}",
        "dialect": {"delimiter": file.separator, "lineTerminator": "\n", "header": True},
        "schema": schema,
    }


def _field(column: DescribedColumn) -> Json:
    kind = {"integer": "integer", "number": "number", "text": "string"}[column.type]
    return {
        "name": column.name,
        "type": kind,
        "description": column.about,
        **({"constraints": {"required": True}} if column.required else {}),
    }
