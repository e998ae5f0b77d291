"""A virtual flora: a made-up country, its plants, and the people who recorded them.

For trying things at any size without anybody's data. `landscape` is the country, `niches` the plants,
`surveys` the presence-absence campaigns, `sightings` the presence-only records with their bias towards
towns, roads and showy species, `flora` all of it, `folder` the files. `dice` is the only source of chance.
The same seed and sizes give the same tables to the last digit, on every platform and version.
"""

from __future__ import annotations

from spatialsplit.synthetic.flora import DEFAULT_SEED, N_PO, N_SURVEYS, VirtualFlora, make_virtual_flora
from spatialsplit.synthetic.folder import WrittenFlora, write_virtual_flora

__all__ = [
    "DEFAULT_SEED",
    "N_PO",
    "N_SURVEYS",
    "VirtualFlora",
    "WrittenFlora",
    "make_virtual_flora",
    "write_virtual_flora",
]
