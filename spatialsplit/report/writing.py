"""Write the page of a dataset into a file."""

from __future__ import annotations

from pathlib import Path

from spatialsplit.audit.published import MANIFEST
from spatialsplit.errors import OutputError
from spatialsplit.publishing import new_files
from spatialsplit.report.contents import contents_of
from spatialsplit.report.rendering import render
from spatialsplit.report.source import Source, open_source

NAME = "report.html"


def write_report(folder: Path | str, out: Path | str | None = None, *, public: bool = False) -> Path:
    """Write the report of a dataset: one HTML file that works offline.

    The dataset is audited for it. A `public/` folder alone gives the public report.

    Parameters
    ----------
    folder : path
        A dataset, or its `public/` folder.
    out : path, optional
        `report.html` in the folder, unless said. A public report goes beside the dataset, as `<folder>_report.html`:
        a file among the published ones that no list of checksums has would be a fault.
    public : bool
        Leave out what only the organizers may know.

    Returns
    -------
    path
        Of the page.

    Raises
    ------
    DataError
        No such folder, or nothing of a dataset in it.
    OutputError
        The page cannot be written.

    Examples
    --------
    >>> import spatialsplit as ss
    >>> ss.write_report("nowhere")
    Traceback (most recent call last):
    ...
    spatialsplit.errors.DataError: No such folder: nowhere. Give the folder of a dataset, or its public/ folder.
    """
    folder = Path(folder)
    with open_source(folder, public=public) as source:
        page = report_page(source)
        target = Path(out) if out is not None else _usual_place(folder, source.public)
        _refuse_files_of(folder, target)
    with new_files(target) as (part,):
        part.write_text(page, "utf-8", newline="\n")
    return target


def write_report_of(source: Source, out: Path) -> Path:
    """Write the report of a dataset that has been audited already, as a build has."""
    out.write_text(report_page(source), "utf-8", newline="\n")
    return out


def _usual_place(folder: Path, public: bool) -> Path:
    whole = folder.resolve()
    if whole.name == "public" and (whole.parent / MANIFEST).is_file():  # also there no list has the page
        whole = whole.parent
    return whole.parent / f"{whole.name}_report.html" if public else folder / NAME


def _refuse_files_of(folder: Path, target: Path) -> None:
    """Refuse to put the page in the place of a file of the dataset itself."""
    place = target.resolve()
    if place.name != NAME and place.is_file() and place.is_relative_to(folder.resolve()):
        raise OutputError(
            f"{target} is a file of the dataset: it would be lost. The page goes into a file of its own. Give --out "
            "another name."
        )


def report_page(source: Source) -> str:
    """Give the page of a dataset as HTML text; what is no text (a file's name in bytes, half a character) is a `?`."""
    return render(contents_of(source)).encode("utf-8", "replace").decode("utf-8")
