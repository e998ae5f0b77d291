"""Run the notebooks and keep their outputs: `python -m notebooks.run` renews all of them, or those that are named."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
DATA = FOLDER.parent.parent / "shared" / "data"
"""Real records, where they lie beside the repository; $SPATIALSPLIT_DATA goes before it."""

SECONDS = 120


def notebooks() -> list[Path]:
    """Name the notebooks in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Run a notebook in a folder, which gets the files that it writes, and give it with its outputs.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        A cell failed.
    """
    if DATA.is_dir():
        os.environ.setdefault("SPATIALSPLIT_DATA", str(DATA))
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.extra_arguments = ["--log-level=ERROR"]
    client.execute()
    return tidied(notebook)


def tidied(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Leave out what differs from run to run: times, places in memory, the version of the kernel."""
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python", "pygments_lexer": "python3"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = _joined(cell.outputs)
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data.pop("text/plain", None)
            for key, text in output.get("data", {}).items():
                if key == "text/plain":
                    output.data[key] = re.sub(r" at 0x[0-9a-f]+", "", text)
    return notebook


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Put printed text together that came in pieces, in as many as chance had it."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        before = joined[-1] if joined else None
        if (
            before is not None
            and output.output_type == before.output_type == "stream"
            and output.name == before.name
        ):
            before.text += output.text
        else:
            joined.append(output)
    return joined


def main(names: list[str]) -> None:
    """Renew the outputs of all notebooks, or of those that are named without their ending."""
    strangers = sorted(set(names) - {path.stem for path in notebooks()})
    if strangers:
        known = ", ".join(path.stem for path in notebooks())
        raise SystemExit(
            f"There is no notebook '{strangers[0]}'. There are: {known}."
        )
    for path in notebooks():
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
