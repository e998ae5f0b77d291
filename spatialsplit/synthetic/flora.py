"""A whole virtual flora from a seed and two numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spatialsplit.errors import DataError
from spatialsplit.synthetic.landscape import Landscape, make_landscape
from spatialsplit.synthetic.niches import Niches, make_niches, species_for
from spatialsplit.synthetic.sightings import Passersby, make_passersby, sighting_tables
from spatialsplit.synthetic.surveys import make_surveys, species_lists, survey_columns

if TYPE_CHECKING:
    import pyarrow

N_SURVEYS, N_PO = 4_000, 100_000
DEFAULT_SEED = "2b7e151628aed2a6"
_MOST_ROWS = 2**31  # the dice count to here


@dataclass(frozen=True)
class VirtualFlora:
    """A made-up country and what was recorded in it.

    Attributes
    ----------
    seed : str
        The seed text it was made from.
    landscape : Landscape
        Elevation, temperature and precipitation as arrays.
    niches : Niches
        The truth behind the records: how much of each species grows in each habitat.
    pa : pyarrow.Table
        Presence-absence: a row a survey and species.
    n_surveys, n_po : int
        How many surveys `pa` holds, and how many presence-only records there are.
    """

    seed: str
    landscape: Landscape
    niches: Niches
    pa: pyarrow.Table
    n_surveys: int
    n_po: int
    _passersby: Passersby

    def po_tables(self) -> Iterator[pyarrow.Table]:
        """Give the presence-only records as tables of bounded size, made on the way."""
        return sighting_tables(self.seed, self.landscape, self.niches, self._passersby, self.n_po)

    @property
    def po(self) -> pyarrow.Table:
        """All presence-only records as one table; for millions of them, `po_tables` needs less memory."""
        import pyarrow

        return pyarrow.concat_tables(self.po_tables())


def make_virtual_flora(n_surveys: int = N_SURVEYS, n_po: int = N_PO, *, seed: str | int = DEFAULT_SEED) -> VirtualFlora:
    """Make a virtual flora: to try a recipe, to measure speed, to teach with data that is nobody's.

    Parameters
    ----------
    n_surveys : int
        Presence-absence surveys, of some 5 to 21 species each. 300 species grow for 4,000 surveys, more for
        more (twice as many for sixteen times the surveys), and then a survey lists more of them, too.
    n_po : int
        Presence-only records.
    seed : str or int
        Seed text; an integer means its decimal digits.

    Returns
    -------
    VirtualFlora
        Equal to the last digit on every platform for the same arguments. `n_po` does not change the surveys,
        and the country depends on the seed alone.

    Raises
    ------
    DataError
        Where a number is below 1 or the seed cannot stand in a recipe; all faults at once.

    Examples
    --------
    >>> flora = make_virtual_flora(200, 1_000, seed="example")
    >>> flora.n_surveys, flora.po.num_rows
    (200, 1000)
    >>> flora.pa.column_names[:4]
    ['patchID', 'dayOfYear', 'date', 'year']
    """
    seed = str(seed)
    problems = [
        *_bad_number("surveys", n_surveys),
        *_bad_number("presence-only records", n_po),
        *_bad_seed(seed),
    ]
    if problems:
        raise DataError(problems)
    import pyarrow

    landscape = make_landscape(seed)
    niches = make_niches(seed, landscape, species_for(n_surveys))
    surveys = make_surveys(seed, landscape, n_surveys)
    survey, species = species_lists(seed, surveys, niches)
    presences = pyarrow.table(survey_columns(surveys, landscape)).take(pyarrow.array(survey))
    return VirtualFlora(
        seed=seed,
        landscape=landscape,
        niches=niches,
        pa=presences.append_column("speciesId", pyarrow.array(species)),
        n_surveys=n_surveys,
        n_po=n_po,
        _passersby=make_passersby(seed, landscape, surveys),
    )


def _bad_number(of_what: str, n: int) -> list[str]:
    if 1 <= n < _MOST_ROWS:
        return []
    return [f"Invalid number of {of_what}: {n}. A virtual flora has 1 to {_MOST_ROWS - 1:,} of them."]


def _bad_seed(seed: str) -> list[str]:
    if seed and seed.isprintable() and "|" not in seed:
        return []
    return [f"Invalid seed {seed!r}. A seed is text in one line, not empty and without '|'. Choose another one."]
