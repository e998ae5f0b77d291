"""H3 cells as quadrats, for interchange with data that is keyed by them; the extra `spatialsplit[h3]`.

H3's hexagons (Uber, https://h3geo.org) differ in area by up to a factor of two, and a cell does not hold its children
exactly. For honest validation prefer equal-area squares or `HexagonGrid`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialsplit.errors import DataError, shown
from spatialsplit.folds.assigning import whole_number
from spatialsplit.folds.grouping import group_labels
from spatialsplit.folds.places import Floats, Places
from spatialsplit.quadrats import Quadrats


def _h3() -> Any:
    try:
        import h3  # type: ignore[import-not-found,import-untyped,unused-ignore]  # an extra
    except ImportError:
        raise DataError(
            "H3 cells need the package h3, which is not installed. Say: pip install 'spatialsplit[h3]'."
        ) from None
    return h3


@dataclass(frozen=True)
class H3Grid:
    """H3 cells of one resolution.

    Parameters
    ----------
    resolution : int
        0 (1,100 km wide) to 15; 5 is about 17 km, 6 about 6.5 km, 7 about 2.4 km from side to side.

    Raises
    ------
    DataError
        The resolution is none, or the package h3 is not installed.
    """

    resolution: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", whole_number(self.resolution, "resolution", 0, 15))
        _h3()

    def assign(self, lon: Floats, lat: Floats) -> Quadrats:
        """Give every point its cell, by the cell's own name (`851f9643fffffff`)."""
        places = Places(lon, lat)
        to_cell = _h3().latlng_to_cell
        cells = [
            to_cell(north, east, self.resolution)
            for east, north in zip(places.east.tolist(), places.north.tolist(), strict=True)
        ]
        groups = group_labels(cells, len(cells))
        return Quadrats(groups.codes.astype(np.int32), groups.labels)

    def outline(self, label: str) -> list[tuple[float, float]]:
        """Give the corners of a cell, longitude and latitude.

        Raises
        ------
        DataError
            The label is no cell of this resolution.
        """
        h3 = _h3()
        if not h3.is_valid_cell(label) or h3.get_resolution(label) != self.resolution:
            raise DataError(
                f"'{shown(label)}' is no H3 cell of resolution {self.resolution}. Correct the label or the resolution."
            )
        return [(lon, lat) for lat, lon in h3.cell_to_boundary(label)]
