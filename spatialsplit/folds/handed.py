"""What a splitter is handed as `X` and `groups` → how many rows there are, and where they lie.

Places come with `X` or `groups`, so they stay beside the rows through every subset that scikit-learn takes. Arrays,
data frames, geo data frames and Arrow tables are read as what they are; what cannot be a place is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialsplit.columns import find_columns
from spatialsplit.crs import to_lonlat
from spatialsplit.errors import DataError, first_few
from spatialsplit.folds.places import Places, numbers_in

PLANAR_NAMES = (("easting", "northing"), ("x", "y"))
"""Columns of a table in planar mode."""


def places_of(X: Any, groups: Any = None, *, planar: bool = False) -> Places:
    """Find where the rows of `X` lie.

    Parameters
    ----------
    X : array, data frame or geo data frame, n rows
        A geo data frame gives its points; another data frame its columns `lon`, `lat` (or known other names of them),
        in planar mode `easting`, `northing` or `x`, `y`.
    groups : array of float, shape (n, 2), or geometry or Places, optional
        The places themselves, which count more than `X`: longitude and latitude, or easting and northing; by their
        names where it is a data frame that has them.
    planar : bool

    Raises
    ------
    DataError
        Neither has places, or there are not as many as rows.

    Examples
    --------
    >>> places_of(np.zeros((2, 5)), groups=[[3.87, 43.61], [3.88, 43.70]]).north.tolist()
    [43.61, 43.7]
    """
    if n_columns(groups) == 2:
        places = _of_groups(groups, planar)
        if X is not None and len(places) != n_rows(X):
            raise DataError(
                f"groups has {len(places):,} places for {n_rows(X):,} rows. Each row needs one. Give them in the rows' "
                "order."
            )
        return places
    X = as_frame(X)
    if is_geometry(X):
        return _of_geometry(X, planar, "X")
    if hasattr(X, "columns"):
        return _of_columns(X, planar)
    names = "easting and northing" if planar else "longitude and latitude"
    raise DataError(
        f"Nobody knows where the {n_rows(X):,} rows of X lie. Each needs {names}. Give groups=, an array of two "
        "columns "
        "with them, or X as a data frame that has them."
    )


def is_geometry(values: Any) -> bool:
    """Tell a geo data frame, geo series or array of geometry with its CRS from anything else."""
    return hasattr(values, "crs") and (hasattr(values, "geometry") or hasattr(values, "geom_type"))


def n_columns(groups: Any, known: tuple[int, ...] = (1, 2), *, meaning: str = "two with longitude and latitude") -> int:
    """Count the columns of `groups`: none without it, one where it holds labels, two where it holds places.

    Raises
    ------
    DataError
        It has another shape, which must not be passed over in silence.

    Examples
    --------
    >>> n_columns(None), n_columns(["a", "b"]), n_columns([[9.0, 50.0]])
    (0, 1, 2)
    """
    if groups is None:
        return 0
    if isinstance(groups, Places) or is_geometry(groups):
        return 2
    try:
        shape = np.shape(groups)
    except ValueError:  # rows of unequal length
        shape = ()
    columns = shape[1] if len(shape) == 2 else len(shape)
    if len(shape) not in (1, 2) or columns not in known:
        raise DataError(
            f"groups has the shape {shape}. It must be one column with the group of each row, or {meaning}. Give these "
            "columns alone."
        )
    return int(columns)


def as_frame(X: Any) -> Any:
    """Give an Arrow table as a data frame, and anything else as it is."""
    return X.to_pandas() if hasattr(X, "column_names") and hasattr(X, "to_pandas") else X


def _of_groups(groups: Any, planar: bool) -> Places:
    if isinstance(groups, Places):
        return groups
    groups = as_frame(groups)
    if is_geometry(groups):
        return _of_geometry(groups, planar, "groups")
    if hasattr(groups, "columns"):
        header = [str(name) for name in groups.columns]
        try:
            found = find_columns(header, _names(header, planar), where="groups")
        except DataError as error:
            if len(error.problems) < 2:  # one of the two has its name: which is the other?
                raise
        else:
            groups = np.column_stack([numbers_in(_column(groups, each), "groups") for each in found.values()])
    pairs = numbers_in(groups, "groups")
    return Places(pairs[:, 0], pairs[:, 1], planar)


def _of_geometry(X: Any, planar: bool, where: str) -> Places:
    import geopandas

    geometry = X.geometry if hasattr(X, "geometry") else geopandas.GeoSeries(X)
    kinds = sorted(set(geometry.geom_type.dropna()))
    missing = geometry.isna().any() or geometry.is_empty.any()
    if kinds != ["Point"] or missing:
        held = [kind for kind in kinds if kind != "Point"] + ["missing points"] * bool(missing)
        raise DataError(
            f"The geometry of {where} holds {first_few(held) or 'nothing'}. "
            "Each row must be one point. Take representative_point() of the shapes, or leave rows out."
        )
    east, north = geometry.x.to_numpy(), geometry.y.to_numpy()
    if planar:
        return Places(east, north, planar)
    if geometry.crs is None:
        raise DataError(
            f"The geometry of {where} has no CRS. Distances on the ellipsoid need one. Say {where}.set_crs(…), or "
            "planar=True for a plane."
        )
    return Places(*to_lonlat(east, north, geometry.crs.to_wkt()))


def _names(header: list[str], planar: bool) -> tuple[str, str]:
    if not planar:
        return ("lon", "lat")
    return next((pair for pair in PLANAR_NAMES if set(pair) <= set(header)), PLANAR_NAMES[0])


def _of_columns(X: Any, planar: bool) -> Places:
    header = [str(name) for name in X.columns]
    names = _names(header, planar)
    try:
        found = find_columns(header, names, where="X")
    except DataError as error:
        raise DataError(
            [
                *(problem.split(" Name it in the recipe")[0] for problem in error.problems),
                "Rename the columns, or give groups=, an array of two columns with the places.",
            ]
        ) from None
    east, north = (numbers_in(_column(X, found[name]), f"column '{header[found[name]]}' of X") for name in names)
    return Places(east, north, planar)


def _column(X: Any, position: int) -> Any:
    """Give a column of any data frame; its missing values as NaN."""
    if hasattr(X, "iloc"):
        column = X.iloc[:, position]
        return column.to_numpy(na_value=np.nan) if column.isna().any() else column
    return X[list(X.columns)[position]]


def n_rows(X: Any) -> int:
    """Count the rows of anything that scikit-learn takes for X."""
    if X is None:
        raise DataError("There is no X. Its rows are what is split. Give it, or an array of as many zeros.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
