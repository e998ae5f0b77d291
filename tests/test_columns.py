"""Columns are found by name and never by position; what is missing is said with what is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialsplit.columns import ALLOWED_IN_BLIND, COLUMNS, find_columns
from spatialsplit.errors import DataError
from tests.strategies import quick

LONLAT = ["lon", "lat"]


@given(st.permutations(["longitude", "latitude", "patch_id", "doy", "other", ""]))
@quick
def test_the_position_does_not_matter(header: list[str]) -> None:
    """Each name leads to its own column wherever that stands."""
    found = find_columns(header, [*LONLAT, "patchID", "dayOfYear"])
    assert [header[i] for i in found.values()] == ["longitude", "latitude", "patch_id", "doy"]


def test_a_columns_own_name_goes_before_its_aliases() -> None:
    """A file with `lon` and `longitude` means `lon`."""
    assert find_columns(["longitude", "lon"], ["lon"]) == {"lon": 1}


def test_a_mapped_name_goes_before_everything() -> None:
    """And is then free for nothing else."""
    assert find_columns(["lon", "x", "lat"], LONLAT, {"lon": "x"}) == {"lon": 1, "lat": 2}
    with pytest.raises(DataError, match="No column 'lat' in the table"):
        find_columns(["lon", "lat"], LONLAT, {"lon": "lat"})
    with pytest.raises(DataError, match="No column 'lat' in the table"):
        find_columns(["lon", "latitude"], LONLAT, {"lon": "latitude"})


def test_an_optional_column_may_be_missing_but_not_if_it_is_mapped() -> None:
    """A recipe that names a column means it."""
    assert find_columns(["lon"], ["lon"], optional=["year"]) == {"lon": 0}
    with pytest.raises(DataError, match=r"No column 'annee' \(for 'year'\)"):
        find_columns(["lon"], ["lon"], {"year": "annee"}, optional=["year"])


def test_a_missing_column_is_said_with_the_nearest_name() -> None:
    """What is there, what may have been meant, and how to say so."""
    with pytest.raises(DataError) as caught:
        find_columns(["plot", "lon", "latitud"], [*LONLAT, "patchID"], where="pa.csv")
    lat, patch = caught.value.problems
    assert lat == (
        "No column 'lat' in pa.csv. It has: plot, lon, latitud. Did you mean 'latitud'? "
        'Name it in the recipe: columns = { lat = "…" }.'
    )
    assert "No column 'patchID' in pa.csv" in patch


@pytest.mark.parametrize(
    ("header", "mark"),
    [(["patchID;lon;lat"], ";"), (["a,b", "c,d"], ","), (["lon\tlat"], "\\t"), (["lon;lat"], ";")],
)
def test_a_wrong_separator_is_one_line(header: list[str], mark: str) -> None:
    """Not one for each column that cannot be there."""
    with pytest.raises(DataError, match="so the separator is wrong") as caught:
        find_columns(header, [*LONLAT, "patchID", "dayOfYear"], where="pa.csv")
    assert len(caught.value.problems) == 1
    assert f'Say separator = "{mark}".' in str(caught.value)


def test_a_header_of_one_column_is_not_blamed_on_the_separator() -> None:
    """A single name holds none."""
    with pytest.raises(DataError, match=r"No column 'lon' in the table\. It has: species\."):
        find_columns(["species"], ["lon"])


def test_two_columns_for_one_name_are_refused() -> None:
    """Nobody guesses which was meant."""
    with pytest.raises(DataError, match=r"Column 'lon' could be any of 2 columns of the table: .* Say which"):
        find_columns(["lng", "longitude"], ["lon"])


def test_a_name_that_is_there_twice_cannot_be_mapped_to() -> None:
    """The cure that is named must work: the recipe cannot tell two equal names apart."""
    with pytest.raises(DataError, match=r"2 columns of the table: 'lon', 'lon'. Rename one in the file"):
        find_columns(["lon", "lat", "lon"], ["lon"])


def test_one_column_for_two_names_is_refused() -> None:
    """A place whose longitude is its latitude is a slip of the pen."""
    with pytest.raises(DataError, match=r"Column 'x' of pa\.csv is mapped to lon and lat at once"):
        find_columns(["x", "y"], LONLAT, {"lon": "x", "lat": "x"}, where="pa.csv")


def test_a_message_stays_one_short_line_whatever_the_header_is() -> None:
    """Line breaks, control characters and megabytes do not get through."""
    with pytest.raises(DataError, match="No column 'lon'") as caught:
        find_columns(["a\nb\x00", "c" * 100_000], ["lon"])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_no_alias_stands_for_two_columns() -> None:
    """A file's name has one translation."""
    names = [name for column in COLUMNS.values() for name in column.aliases] + list(COLUMNS)
    assert len(names) == len(set(names))


def test_the_blind_allow_list_gives_no_answer_away() -> None:
    """No species, quadrat, subset or prediction is on it."""
    assert not set(ALLOWED_IN_BLIND) & {"speciesId", "speciesName", "quadratId", "subset", "predictions", "Usage"}
