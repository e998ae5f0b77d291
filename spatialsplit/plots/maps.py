"""Maps: quadrats by subset as a picture of small squares, test surveys as triangles on them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spatialsplit.errors import DataError
from spatialsplit.plots.palette import in_order, look_of, words_of
from spatialsplit.quadrats import Grid, grid_named

if TYPE_CHECKING:
    from spatialsplit.split import Split

Floats = npt.NDArray[np.float64]
LONGER_SIDE = 900
"""Squares along the longer side of the picture, at most; more would not be seen and make it large."""

SEEN_SHARE = 0.1
"""Few quadrats far apart are drawn larger, so that they cover this share of the picture."""

DRAWN_LARGER = 150
"""From so many squares along a side, holdouts are drawn a square larger, or they would be lost."""


def plot_split(what: Path | str | Split | tuple[Any, Any, Any], axes: Any = None) -> Any:
    """Draw a split as a map, in one line.

    Parameters
    ----------
    what : path, Split, or (lon, lat, subset)
        A dataset folder (or its `public/` folder); a `Split`; or coordinates in WGS84 degrees with the subset of each.
    axes : matplotlib axes, optional
        Made, with a figure, where none are given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        The folder has no `quadrats.csv`; coordinates and subsets are not equally many; something else was given.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = plot_split(([3.9, 4.0, 4.1], [43.6, 43.7, 43.6], ["train", "train", "test"]), Figure().subplots())
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['train (2)', 'test (1)']
    """
    points = _points_of(what)
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.subplots(figsize=(6.4, 6.4), layout="constrained")[1]
    if points is not None:
        return _plot_points(axes, *points)
    if isinstance(what, str | Path):
        grid, labels, subsets = _quadrats_of_folder(Path(what))
        corners = np.array([grid.bounds(label)[:2] for label in labels], dtype=np.int64)
        return plot_quadrats(axes, corners, np.asarray(subsets), grid.size_m)
    assert not isinstance(what, tuple)
    if not hasattr(what.rules.grid, "size_m"):
        grid_name = type(what.rules.grid).__name__
        raise DataError(
            f"A map cannot be drawn of a split by {grid_name}: its quadrats are no squares of whole metres. Give (lon, "
            "lat, subset)."
        )
    table = what.quadrats
    corners = np.array([what.rules.grid.bounds(label)[:2] for label in table.labels], dtype=np.int64)
    return plot_quadrats(axes, corners, np.asarray(table.subsets), what.rules.grid.size_m)


def plot_quadrats(
    axes: Any,
    corners: npt.NDArray[np.int64],
    subsets: npt.NDArray[Any],
    size_m: int,
    points: Mapping[str, Floats] | None = None,
) -> Any:
    """Draw quadrats as coloured squares in their projection, holdouts on top, and test surveys as triangles.

    Parameters
    ----------
    axes : matplotlib axes
    corners : array of int, shape (n, 2), metres
        Easting and northing of each quadrat's lower-left corner.
    subsets : array of str, shape (n,)
    size_m : int
        Side of a quadrat.
    points : mapping of name to array of float, shape (m, 2), metres, optional
        Easting and northing of surveys (`test`) or of `removed` records, to be drawn on top.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> corners = np.array([[0, 0], [5000, 0], [5000, 10000]])
    >>> axes = plot_quadrats(Figure().subplots(), corners, np.array(["train", "train", "test"]), 5000)
    >>> [float(limit) for limit in (*axes.get_xlim(), *axes.get_ylim())]
    [0.0, 10000.0, 0.0, 15000.0]
    """
    from matplotlib.colors import to_rgba_array

    corners, subsets = np.asarray(corners, dtype=np.int64).reshape(-1, 2), np.asarray(subsets)
    if not len(corners):
        return axes
    image, names = square_picture(corners, subsets, size_m)
    looks = np.vstack([np.zeros(4), to_rgba_array([look_of(name).colour for name in names])])
    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0) + size_m
    colours = np.asarray(np.round(looks[image] * 255), dtype=np.uint8)
    axes.imshow(colours, extent=(west, east, south, north), origin="upper", interpolation="none")
    for name, at in (points or {}).items():
        look = look_of(name)
        small = float(np.clip(45 / np.sqrt(max(len(at), 1)), 1.2, 5))
        style = {
            "markersize": small,
            "markeredgewidth": small / 5,
            "markerfacecolor": "none",
            "markeredgecolor": look.colour,
            "linestyle": "none",
        }
        axes.plot(*np.asarray(at, dtype=float).T, look.mark, **style)
    axes.set(aspect="equal", xticks=[], yticks=[], xlim=(west, east), ylim=(south, north))
    counts = {name: int((subsets == name).sum()) for name in names}
    counts |= {name: len(at) for name, at in (points or {}).items() if name not in counts}
    return _legend(axes, counts, squares=names)


def square_picture(
    corners: npt.NDArray[np.int64], subsets: npt.NDArray[Any], size_m: int, longer_side: int = LONGER_SIDE
) -> tuple[npt.NDArray[np.uint16], list[str]]:
    """Give the map as numbers, north up: 0 where there is no quadrat, else 1 + the place of its subset in the names.

    Examples
    --------
    >>> image, names = square_picture(np.array([[0, 0], [5000, 5000]]), np.array(["train", "test"]), 5000)
    >>> image.tolist(), names
    ([[0, 2], [1, 0]], ['train', 'test'])
    """
    names = in_order({str(name) for name in subsets})
    steps = (corners - corners.min(axis=0)) // size_m
    coarser = max(1, -(-int(steps.max() + 1) // longer_side))
    column, row = (steps // coarser).T
    width, height = int(column.max()) + 1, int(row.max()) + 1
    image = np.zeros((height, width), dtype=np.uint16)
    side = int(np.clip(np.sqrt(SEEN_SHARE * width * height / len(corners)), 1, 1 + max(width, height) // 100))
    for number, name in enumerate(names, start=1):
        chosen = subsets == name
        larger = int(name != "train" and max(width, height) > DRAWN_LARGER)
        for down in range(side + larger):
            for right in range(side + larger):
                rows = np.clip(height - 1 - row[chosen] + down - side // 2, 0, height - 1)
                image[rows, np.clip(column[chosen] + right - side // 2, 0, width - 1)] = number
    return image, names


def _points_of(what: Any) -> tuple[Floats, Floats, npt.NDArray[Any]] | None:
    """Give coordinates and subsets where that is what was given; None of a folder or a split."""
    if isinstance(what, str | Path) or hasattr(what, "quadrats"):
        return None
    if not isinstance(what, tuple | list) or len(what) != 3:
        raise DataError(
            f"A map cannot be drawn of a {type(what).__name__}. Give a dataset folder, a Split, or (lon, lat, subset)."
        )
    lon, lat, subset = np.asarray(what[0], dtype=float), np.asarray(what[1], dtype=float), np.asarray(what[2])
    if not lon.shape == lat.shape == subset.shape:
        raise DataError(
            f"lon, lat and subset have {lon.size:,}, {lat.size:,} and {subset.size:,} values. Each point needs all "
            "three."
        )
    return lon, lat, subset.astype(str)


def _plot_points(axes: Any, lon: Floats, lat: Floats, subset: npt.NDArray[Any]) -> Any:
    names = in_order(set(subset.tolist()))
    for name in names:
        chosen = subset == name
        look = look_of(name)
        small = 3 if name == "train" else 5
        axes.plot(lon[chosen], lat[chosen], look.mark, color=look.colour, markersize=small, linestyle="none")
    seen = lat[np.isfinite(lat)]
    middle = np.radians(np.clip(seen.mean() if seen.size else 0.0, -85, 85))
    axes.set(aspect=1 / np.cos(middle), xlabel="longitude", ylabel="latitude")
    return _legend(axes, {name: int((subset == name).sum()) for name in names})


def _legend(axes: Any, counts: Mapping[str, int], squares: Sequence[str] = ()) -> Any:
    """Add a legend with the marks that are on the map: a square where quadrats were drawn."""
    from matplotlib.lines import Line2D

    marks = {name: "s" if name in squares else look_of(name).mark for name in counts}
    handles = [
        Line2D([], [], color=look_of(name).colour, marker=mark, linestyle="none", markersize=7)
        for name, mark in marks.items()
    ]
    labels = [f"{words_of(name)} ({count:,})" for name, count in counts.items()]
    where = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.01)} if not axes.get_xlabel() else {"loc": "best"}
    axes.legend(
        handles,
        labels,
        frameon=False,
        ncols=len(counts) if len(counts) < 4 else 2,
        fontsize="small",
        handletextpad=0.2,
        **where,
    )
    return axes


def _quadrats_of_folder(folder: Path) -> tuple[Grid, list[str], list[str]]:
    from spatialsplit.tables import read_table

    places = [folder / f"{below}quadrats.{ending}" for below in ("public/", "") for ending in ("csv", "parquet")]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise DataError(
            f"There is no quadrats.csv in {folder}. A map needs the quadrats and their subsets. Name a dataset folder, "
            "or give (lon, lat, subset)."
        )
    table = read_table(path)
    labels = [str(label) for label in table["quadratId"].to_pylist()]
    return grid_of_label(labels), labels, [str(name) for name in table["subset"].to_pylist()]


def grid_of_label(labels: list[str]) -> Grid:
    """Give the grid that labels are of, with an origin at one of them: enough to place them all.

    Raises
    ------
    DataError
        They are of no grid that is known by its labels.

    Examples
    --------
    >>> grid_of_label(["CRS3035RES10000mN2695000E4335000"])
    Grid(crs='EPSG:3035', size_m=10000, origin=(5000, 5000))
    """
    first = labels[0] if labels else ""
    if re.fullmatch(r"e\d{4,}n\d{4,}", first):
        return grid_named("glc2022")
    match = re.fullmatch(r"CRS(\d+)RES(\d+)mN(-?\d+)E(-?\d+)", first)
    if match is None:
        raise DataError(
            f"'{first}' is no label of a quadrat. It looks like CRS3035RES5000mN2690000E4335000. Correct it."
        )
    size = int(match[2])
    return Grid(f"EPSG:{match[1]}", size, (int(match[4]) % size, int(match[3]) % size))
