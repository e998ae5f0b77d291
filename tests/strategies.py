"""Hypothesis strategies: places on the earth, cells of tables, occupied quadrats, seeds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyproj
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

GEOD = pyproj.Geod(ellps="WGS84")

quick = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

longitudes = st.one_of(
    st.floats(-180, 180),
    st.floats(179.99, 180),
    st.floats(-180, -179.99),
    st.sampled_from([-180.0, 180.0, 0.0, -0.0, -30.0]),
)
latitudes = st.one_of(
    st.floats(-90, 90), st.floats(89.9, 90), st.floats(-90, -89.9), st.sampled_from([-90.0, 90.0, 0.0])
)
places = st.tuples(longitudes, latitudes)

european = st.tuples(st.floats(-10, 30), st.floats(36, 70))
"""Places where EPSG:3035 is at home."""

metres = st.one_of(st.floats(-9e6, 9e6), st.integers(-900_000_000, 900_000_000).map(lambda cm: cm / 100))
"""Coordinates in metres, many of them on whole centimetres."""

cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Any text that UTF-8 can hold: separators, quotation marks, line breaks and NUL included."""

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|"), min_size=1, max_size=12)
"""Any seed or name that a draw takes."""

occupied = st.dictionaries(words, st.integers(1, 40), min_size=1, max_size=40)
"""Label of a quadrat to its number of surveys."""

shares = st.one_of(st.floats(0.001, 0.999), st.sampled_from([0.025, 0.1, 0.1 + 0.2, 0.25, 0.5, 1 / 3]))

radii = st.sampled_from([0.0, 1.0, 50.0, 500.0, 5_000.0, 50_000.0])


@st.composite
def sites_and_records(draw: st.DrawFn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Draw a few sites, records around them (some at exactly the radius) and elsewhere, and the radius."""
    radius = draw(radii)
    sites = draw(st.lists(places, min_size=1, max_size=6))
    if draw(st.booleans()):
        sites.append(sites[0])  # coincident
    records = draw(st.lists(places, max_size=4))
    around = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(sites) - 1),
                st.floats(-180, 180),
                st.sampled_from([0.0, 0.5, 0.99999, 1.0, 1.00001, 1.5]),
            ),
            max_size=12,
        )
    )
    for number, azimuth, part in around:
        lon, lat, _ = GEOD.fwd(*sites[number], azimuth, radius * part)
        records.append((max(-180.0, min(180.0, lon)), lat))
    return np.array(sites).reshape(-1, 2), np.array(records).reshape(-1, 2), radius
