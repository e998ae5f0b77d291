"""A forest for 17,000 species: time and memory of ours, and of scikit-learn's on the same records.

    python benchmarks/forest.py [--records 200000] [--species 17000] [--trees 100] [--peer-trees 1] [--jobs 1]

Each runs in a process of its own, so its peak memory is its own. scikit-learn grows `--peer-trees` trees only: at full
size one takes minutes, and a hundred would hold nodes x species x 8 bytes each. Before that both grow a whole forest on
a size that fits scikit-learn, and must rank the same 30 species for every row.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from spatialsplit.baselines.forest import SparseForest

N_VARIABLES = 27
N_TEST = 5_000


def records(n: int, n_species: int) -> tuple[np.ndarray, np.ndarray]:
    """Make records whose species have niches in 27 correlated variables, and are common or rare as real ones."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n, 4))
    values = factors @ rng.normal(size=(4, N_VARIABLES)) + 0.3 * rng.normal(size=(n, N_VARIABLES))
    niche = np.floor(np.clip((factors[:, :2] + 3) / 6, 0, 0.999) * 20).astype(int)
    rank = np.minimum(rng.pareto(0.5, n) * 3, n_species - 1).astype(int)
    species = (rank + (niche[:, 0] * 20 + niche[:, 1]) * 37) % n_species
    species[:n_species] = np.arange(n_species)[:n]
    return values.astype(np.float32), species


def run(way: str, n: int, n_species: int, n_trees: int, jobs: int) -> None:
    """Grow and predict, and print processor seconds, peak memory and a checksum of the 30 best."""
    values, species = records(n, n_species)
    begin = cpu_seconds()
    if way == "ours":
        forest = SparseForest(n_trees, seed=0, n_jobs=jobs).fit(values, species)
        grown = cpu_seconds()
        best = forest.rank(values[:N_TEST], 30)
        n_nodes = sum(len(tree.variable) for tree in forest.trees)
    else:
        peer = RandomForestClassifier(n_trees, max_depth=16, min_samples_split=30, random_state=0, n_jobs=jobs)
        peer.fit(values, species)
        grown = cpu_seconds()
        best = ranked(peer, values[: min(N_TEST, len(values))])
        n_nodes = sum(tree.tree_.node_count for tree in peer.estimators_)
    predicted = cpu_seconds()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    weights = np.arange(1, best.size + 1).reshape(best.shape)
    print(json.dumps([grown - begin, predicted - grown, peak / 2**20, n_nodes / n_trees, int((best * weights).sum())]))


def cpu_seconds() -> float:
    """Give the processor time so far, child processes included: other work on the machine does not show in it."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def ranked(peer: RandomForestClassifier, values: np.ndarray) -> np.ndarray:
    """Rank scikit-learn's probabilities, the smaller id first among equals."""
    parts = []
    for start in range(0, len(values), 200):
        shares = peer.predict_proba(values[start : start + 200])
        order = np.lexsort((np.broadcast_to(peer.classes_, shares.shape), -shares))[:, :30]
        parts.append(peer.classes_[order])
    return np.concatenate(parts)


def measure(way: str, n: int, n_species: int, n_trees: int, jobs: int) -> int:
    """Run one way in a process of its own, print its line, and give its checksum."""
    sizes = {"--records": n, "--species": n_species, "--trees": n_trees, "--jobs": jobs}
    command = [sys.executable, __file__, "--way", way, *(str(part) for pair in sizes.items() for part in pair)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, predicted, peak, n_nodes, checksum = json.loads(result.stdout)
    size = f"{way:<14}{n:>9,}{n_species:>9,}{n_trees:>7}"
    print(f"{size}{grown:>10.1f}{grown / n_trees:>10.2f}{predicted:>10.1f}{peak:>9.2f}{n_nodes:>12,.0f}", flush=True)
    return int(checksum)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--species", type=int, default=17_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--peer-trees", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--way", choices=["ours", "scikit-learn"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        run(given.way, given.records, given.species, given.trees, given.jobs)
        return
    print(f"{N_VARIABLES} variables, {N_TEST:,} rows predicted, {given.jobs} processes; processor seconds, peak GB")
    print(f"{'way':<14}  records  species  trees      grow    a tree   predict       GB  nodes/tree")
    small = [measure(way, 20_000, 500, given.trees, given.jobs) for way in ("ours", "scikit-learn")]
    print(f"the 30 best species of every row are {'the same' if small[0] == small[1] else 'NOT the same'}")
    measure("ours", given.records, given.species, given.trees, given.jobs)
    if given.peer_trees:
        large = [
            measure(way, given.records, given.species, given.peer_trees, given.jobs) for way in ("ours", "scikit-learn")
        ]
        print(f"the 30 best species of every row are {'the same' if large[0] == large[1] else 'NOT the same'}")


if __name__ == "__main__":
    main()
