"""A random forest for thousands of species: GeoLifeCLEF 2022's baseline on environmental vectors.

The same forest as scikit-learn's `RandomForestClassifier`, down to the order of the species it predicts, but its leaves
hold the species that they have met and nothing else, and its trees do not count all species at every split. Each tree
stands in `trees`; `EnvironmentForest` is the baseline, which takes its variables from `environment`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

from spatialsplit.baselines.dataset import BuiltDataset, Floats, Surveys
from spatialsplit.baselines.environment import Environment, Imputation
from spatialsplit.baselines.ranking import best_first
from spatialsplit.baselines.trees import Floats32, Integers, Tree, TreeRules, grow_tree
from spatialsplit.errors import DataError, first_few

CHUNK_NUMBERS = 1 << 23
"""How many probabilities are in memory at once: 64 MB."""


@dataclass
class SparseForest:
    """A random forest whose leaves hold only the species they have met.

    Parameters
    ----------
    n_trees : int
    rules : TreeRules
    seed : int
        0 to 2³² - 1. The same seed gives the same forest with any `n_jobs`.
    n_jobs : int
        Processes that grow trees; -1 for as many as there are cores.

    Notes
    -----
    `RandomForestClassifier(n_estimators=n_trees, max_depth=16, min_samples_split=30, random_state=seed)` of
    scikit-learn 1.9 grows the same trees. Before 1.9 it drew its bootstrap samples in another way.

    Examples
    --------
    >>> values = np.repeat([[0.0], [1.0]], 50, axis=0)
    >>> forest = SparseForest(n_trees=10).fit(values, np.repeat([7, 3], 50))
    >>> forest.rank([[0.1], [0.9]], 2).tolist()
    [[7, 3], [3, 7]]
    """

    n_trees: int = 100
    rules: TreeRules = field(default_factory=TreeRules)
    seed: int = 0
    n_jobs: int = 1
    species: Integers = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    trees: list[Tree] = field(default_factory=list, init=False)

    def fit(
        self, values: npt.ArrayLike, species: npt.ArrayLike, *, progress: Callable[[int], None] = lambda n: None
    ) -> SparseForest:
        """Grow the trees.

        Parameters
        ----------
        values : array, shape (n_records, n_variables)
            Finite; taken as float32.
        species : array of int, shape (n_records,)
        progress : function
            Called with the number of trees so far.

        Raises
        ------
        DataError
            There is no record or no variable, or a value is missing.
        """
        columns = np.ascontiguousarray(_checked(values).T)
        self.species, classes = np.unique(np.asarray(species, dtype=np.int64), return_inverse=True)
        if not columns.size:
            raise DataError(f"Nothing to grow a forest from: {columns.shape[1]} records, {columns.shape[0]} variables.")
        draw = np.random.RandomState(self.seed)
        seeds = [int(draw.randint(np.iinfo(np.int32).max)) for _ in range(self.n_trees)]
        jobs = (joblib.delayed(_grow)(columns, classes, seed, self.rules) for seed in seeds)
        self.trees = []
        for tree in joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs):
            self.trees.append(tree)
            progress(len(self.trees))
        return self

    def rank(self, values: npt.ArrayLike, n_best: int) -> Integers:
        """Give the most probable species of each row, best first; of equally probable ones the smaller id first.

        Parameters
        ----------
        values : array, shape (n, n_variables)
        n_best : int
            How many; all species where there are not so many.

        Returns
        -------
        array of int, shape (n, min(n_best, n_species))
        """
        parts = [best_first(shares, self.species, n_best) for shares in self._chunks(_checked(values))]
        return np.concatenate(parts) if parts else np.zeros((0, min(n_best, len(self.species))), np.int64)

    def probabilities(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Give the probability of each species, as scikit-learn's `predict_proba` does: for small tables only.

        Returns
        -------
        array of float, shape (n, n_species)
            Columns in the order of `species`.
        """
        return np.concatenate(list(self._chunks(_checked(values))))

    def _chunks(self, values: Floats32) -> Iterator[npt.NDArray[np.float64]]:
        n_rows = max(1, CHUNK_NUMBERS // len(self.species))
        for start in range(0, len(values), n_rows):
            chunk = values[start : start + n_rows]
            total = np.zeros((len(chunk), len(self.species)))
            for tree in self.trees:  # in order, so that the sums round as scikit-learn's do
                _add_shares(total, tree, tree.leaves(chunk))
            yield total / len(self.trees)


def _checked(values: npt.ArrayLike) -> Floats32:
    numbers = np.ascontiguousarray(values, dtype=np.float32)
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        raise DataError(
            f"A forest needs a table of finite numbers; this one has shape {numbers.shape} and "
            f"{np.count_nonzero(~np.isfinite(numbers)):,} missing or infinite values. Fill them in first: Imputation."
        )
    return numbers


def _grow(columns: Floats32, classes: npt.NDArray[Any], seed: int, rules: TreeRules) -> Tree:
    """Draw records with replacement and grow one tree; the two draws are scikit-learn's."""
    n = len(classes)
    weight = np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n)
    return grow_tree(columns, classes, weight, seed=int(np.random.RandomState(seed).randint(0, 2**31 - 1)), rules=rules)


def _add_shares(total: npt.NDArray[np.float64], tree: Tree, leaf: Integers) -> None:
    """Add what the leaf of each row says; a leaf names a species once, so no place is met twice."""
    first = tree.first[leaf]
    sizes = tree.first[leaf + 1] - first
    row = np.repeat(np.arange(len(leaf)), sizes)
    entry = np.arange(len(row)) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    total[row, tree.species[entry]] += tree.share[entry]


@dataclass
class EnvironmentForest:
    """The baseline: a forest on the environment of surveys, each label of a survey being a record.

    Missing values are filled in with the medians of the training surveys; a training survey of which nothing is known
    is left out and counted.

    Parameters
    ----------
    environment : Environment
    source : {'surveys', 'records', 'both'}, optional
        As in `BuiltDataset.training`.
    forest : SparseForest
    depth : int
        The most species that a set may have.
    progress : function
        Called with the number of trees so far.
    """

    environment: Environment
    source: str | None = None
    forest: SparseForest = field(default_factory=SparseForest)
    depth: int = 200
    progress: Callable[[int], None] = lambda n: None
    _imputation: Imputation = field(default_factory=lambda: Imputation(np.zeros(0)), init=False)

    def fit(self, data: BuiltDataset) -> list[str]:
        """Grow the forest on the training data."""
        surveys, source = data.training(self.source)
        names, (values,) = self.environment.of(surveys)
        known = _known(values, f"training {source}")
        unknown = self._unknown(data)
        surveys, values = surveys.take(known), values[known]
        self._imputation = Imputation.fit(values)
        filled = self._imputation.fill(values)
        self.forest.fit(filled[surveys.row], surveys.species, progress=self.progress)
        return [*self._notes(names, values, source, int(np.count_nonzero(~known)), len(surveys.species)), *unknown]

    def _unknown(self, data: BuiltDataset) -> list[str]:
        """Say how many surveys are to be predicted of which nothing is known; refuse it where that is all of them."""
        notes = []
        for what, group in (("validation surveys", data.val), ("test surveys", data.test)):
            if group is not None and len(group):
                _, (values,) = self.environment.of(group)
                n_unknown = int(np.count_nonzero(~_known(values, what)))
                if n_unknown:
                    notes.append(f"{n_unknown:,} of {len(group):,} {what} have no environment and got the medians.")
        return notes

    def _notes(self, names: list[str], values: Floats, source: str, n_unknown: int, n_labels: int) -> list[str]:
        n_filled = int(np.count_nonzero(~np.isfinite(values)))
        notes = [
            f"{len(self.forest.trees)} trees on {n_labels:,} labels of the training {source}, {len(names)} variables.",
            f"{n_filled:,} of {values.size:,} training values were missing and took the median of the training data.",
        ]
        if n_unknown:
            notes.append(f"{n_unknown:,} training {source} without any environment were left out.")
        if self.environment.left_out:
            notes.append(f"No variables, as they hold text: {first_few(self.environment.left_out, shown=12)}.")
        return notes

    def rank(self, surveys: Surveys, n_best: int) -> Integers:
        """Give the most probable species of each survey."""
        _, (values,) = self.environment.of(surveys)
        return self.forest.rank(self._imputation.fill(values), n_best)


def _known(values: Floats, what: str) -> npt.NDArray[np.bool_]:
    """Tell of which surveys anything is known, of at least one of which something must be."""
    known = np.asarray(np.isfinite(values).any(axis=1))
    if not known.any():
        raise DataError(
            f"None of the {len(values):,} {what} has an environment: all lie off the rasters, or their ids are not in "
            "the tables. Check the CRS of the rasters and the ids; --env may be given several times."
        )
    return known
