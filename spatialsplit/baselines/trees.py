"""One classification tree for thousands of species, grown as scikit-learn grows it and kept in a fraction of the room.

scikit-learn counts every class at every split and keeps nodes × classes numbers: with 17,000 species that takes minutes
and gigabytes a tree. Here a sum of squares is carried along from record to record, so a split costs what its records
cost, and a leaf keeps the species it has met. The splits are the same to the last bit, for the random numbers, the
order of the search and the arithmetic are those of scikit-learn's `DepthFirstTreeBuilder`, `node_split_best` and `Gini`
(releases 1.3 to 1.9). What many trees say together stands in `forest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats32 = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

SAME_VALUE = np.float32(1e-7)
"""Values nearer than this are not told apart (scikit-learn's FEATURE_THRESHOLD)."""

PURE = float(np.finfo(np.float64).eps)
LEAF = -1


@dataclass(frozen=True)
class TreeRules:
    """When a tree stops, and how many variables it tries at a split.

    Attributes
    ----------
    max_depth : int
        GeoLifeCLEF 2022's baseline: 16.
    min_split : int
        Distinct records that a node needs to be split: 30.
    n_tried : int, optional
        The whole part of the square root of the number of variables where not given.
    """

    max_depth: int = 16
    min_split: int = 30
    n_tried: int | None = None


@dataclass(frozen=True)
class Tree:
    """A grown tree. Nodes are numbered in the order in which they were met, left before right.

    Attributes
    ----------
    variable : array of int, shape (n_nodes,)
        Which one a node asks for; LEAF where it asks nothing.
    limit : array of float, shape (n_nodes,)
        Records with at most this go left.
    left, right : array of int, shape (n_nodes,)
    first : array of int, shape (n_nodes + 1,)
        Where a leaf's species begin in `species` and `share`.
    species : array of int, shape (n_entries,)
        Class numbers, increasing within a leaf.
    share : array of float, shape (n_entries,)
        Of the leaf's records.
    """

    variable: Integers
    limit: npt.NDArray[np.float64]
    left: Integers
    right: Integers
    first: Integers
    species: npt.NDArray[np.int32]
    share: npt.NDArray[np.float64]

    def leaves(self, values: Floats32) -> Integers:
        """Give the leaf that each row of values comes to."""
        node = np.zeros(len(values), dtype=np.int64)
        moving = np.flatnonzero(self.variable[node] != LEAF)
        while moving.size:
            at = node[moving]
            goes_left = values[moving, self.variable[at]] <= self.limit[at]
            node[moving] = np.where(goes_left, self.left[at], self.right[at])
            moving = moving[self.variable[node[moving]] != LEAF]
        return node


def grow_tree(
    values: Floats32, classes: npt.NDArray[Any], weight: Integers, *, seed: int, rules: TreeRules | None = None
) -> Tree:
    """Grow a tree.

    Parameters
    ----------
    values : array of float32, shape (n_variables, n_records)
        A row a variable, none missing.
    classes : array of int, shape (n_records,)
        From 0.
    weight : array of int, shape (n_records,)
        How often each record was drawn; those that never were take no part.
    seed : int
        Of the draw of variables, 0 to 2³¹ - 2.
    rules : TreeRules, optional

    Returns
    -------
    Tree
        Equal to that of scikit-learn's DecisionTreeClassifier with the same sample weights and random state.

    Examples
    --------
    >>> values = np.array([[1, 2, 3, 4]], dtype=np.float32)
    >>> tree = grow_tree(values, np.array([0, 0, 1, 1]), np.ones(4, int), seed=1, rules=TreeRules(min_split=2))
    >>> tree.limit.tolist()[0], tree.leaves(np.array([[2.4], [2.6]], dtype=np.float32)).tolist()
    (2.5, [1, 2])
    """
    rules = rules or TreeRules()
    return _Growing(values, classes, weight, _Variables(len(values), seed), rules).grow()


@dataclass
class _Node:
    """A node that is still to be met: its records, and what its parent knows of it."""

    records: Integers
    depth: int
    parent: int
    is_left: bool
    n_constant: int
    impurity: float


@dataclass
class _Split:
    """The best division of a node so far."""

    gain: float = -np.inf
    variable: int = LEAF
    limit: float = 0.0


class _Growing:
    """A tree on its way: records, nodes met so far, and the nodes still to meet."""

    def __init__(
        self, values: Floats32, classes: npt.NDArray[Any], weight: Integers, variables: _Variables, rules: TreeRules
    ):
        self._values = values
        # numpy sorts 16-bit numbers by radix, several times faster than wider ones
        self._classes = classes.astype(np.uint16 if classes.max(initial=0) < 2**16 else np.int64)
        self._weight = weight.astype(np.float64)
        self._variables = variables
        self._rules = rules
        self._n_tried = rules.n_tried or max(1, int(np.sqrt(len(values))))
        self._nodes: list[list[float]] = []  # variable, limit, left, right
        self._leaves: list[tuple[npt.NDArray[Any], npt.NDArray[np.float64]]] = []

    def grow(self) -> Tree:
        """Grow the tree, split by split, until no leaf can be split."""
        drawn = np.flatnonzero(self._weight)
        to_meet = [_Node(drawn, 0, LEAF, False, 0, np.inf)]
        while to_meet:
            node = to_meet.pop()
            number = len(self._nodes)
            if node.parent != LEAF:
                self._nodes[node.parent][2 if node.is_left else 3] = number
            tally = _Tally(self._classes[node.records], self._weight[node.records])
            split = self._best_split(node, tally) if self._may_split(node, tally) else _Split()
            self._nodes.append([split.variable, split.limit, LEAF, LEAF])
            self._leaves.append(tally.shares() if split.variable == LEAF else _NOTHING)
            if split.variable != LEAF:
                to_meet.extend(self._children(node, number, split))
        return self._finish()

    def _may_split(self, node: _Node, tally: _Tally) -> bool:
        if node.depth >= self._rules.max_depth or len(node.records) < self._rules.min_split:
            return False
        return tally.impurity() > PURE

    def _best_split(self, node: _Node, tally: _Tally) -> _Split:
        best = _Split()

        def is_constant(variable: int) -> bool:
            """Tell whether a variable has one value in this node, so that it splits nothing."""
            values = self._values[variable][node.records]
            return bool(values.max() <= values.min() + SAME_VALUE)

        for variable in self._variables.draw(node.n_constant, self._n_tried, is_constant):
            values = self._values[variable][node.records]
            order = np.argsort(values)
            _improve(best, variable, values[order], tally, order)
        node.n_constant = self._variables.n_constant
        return best

    def _children(self, node: _Node, number: int, split: _Split) -> Iterator[_Node]:
        """Give the right child, then the left one, which is met first."""
        goes_left = self._values[split.variable][node.records] <= split.limit
        for is_left, records in ((False, node.records[~goes_left]), (True, node.records[goes_left])):
            yield _Node(records, node.depth + 1, number, is_left, node.n_constant, 0.0)

    def _finish(self) -> Tree:
        nodes = np.array(self._nodes, dtype=np.float64)
        sizes = [len(species) for species, _ in self._leaves]
        return Tree(
            variable=nodes[:, 0].astype(np.int64),
            limit=nodes[:, 1],
            left=nodes[:, 2].astype(np.int64),
            right=nodes[:, 3].astype(np.int64),
            first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            species=np.concatenate([species for species, _ in self._leaves]).astype(np.int32),
            share=np.concatenate([share for _, share in self._leaves]),
        )


_NOTHING: tuple[npt.NDArray[Any], npt.NDArray[np.float64]] = (np.zeros(0, np.int32), np.zeros(0))


class _Tally:
    """The records of a node by species."""

    def __init__(self, classes: npt.NDArray[Any], weight: npt.NDArray[np.float64]):
        self.classes = classes
        self.weight = weight
        by_class = np.argsort(classes, kind="stable")
        in_order = classes[by_class]
        starts = np.flatnonzero(np.diff(in_order.astype(np.int64), prepend=-1))
        self.species = in_order[starts]
        self.counts = np.add.reduceat(weight[by_class], starts)
        self.total = float(weight.sum())
        self.squares = float((self.counts * self.counts).sum())
        sizes = np.diff(np.append(starts, len(classes)))
        self.count_of_record = np.empty(len(classes))
        self.count_of_record[by_class] = np.repeat(self.counts, sizes)

    def impurity(self) -> float:
        """Give Gini's impurity."""
        return 1.0 - self.squares / (self.total * self.total)

    def shares(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Give each species and its share of the records."""
        return self.species, self.counts / self.total


def _improve(best: _Split, variable: int, values: Floats32, tally: _Tally, order: Integers) -> None:
    """Take the best limit of one variable where it beats the best split so far; an equal one does not."""
    places = np.flatnonzero(values[1:] > values[:-1] + SAME_VALUE)  # the last record of the left side
    if not places.size:  # no step is wide enough, though all of them together are
        return
    gains = _gains(tally, order)[places]
    at = int(np.argmax(gains))
    if gains[at] > best.gain:
        place = int(places[at])
        best.gain, best.variable = float(gains[at]), variable
        best.limit = float(values[place]) / 2.0 + float(values[place + 1]) / 2.0


def _gains(tally: _Tally, order: Integers) -> npt.NDArray[np.float64]:
    """Give what a split after each record would gain: minus the impurity of both sides, weighted.

    When a record of weight w joins the left side, where its species has weight l so far, the sum of squares there grows
    by w (2 l + w); that of the right side follows from it, as Σ (n - l)² = Σ n² - 2 Σ n l + Σ l².
    """
    weight, classes = tally.weight[order], tally.classes[order]
    left = np.cumsum(weight * (2.0 * _weight_before(classes, weight) + weight))
    right = tally.squares - 2.0 * np.cumsum(weight * tally.count_of_record[order]) + left
    n_left = np.cumsum(weight)
    n_right = tally.total - n_left
    with np.errstate(divide="ignore", invalid="ignore"):  # after the last record there is no right side
        return -n_right * (1.0 - right / (n_right * n_right)) - n_left * (1.0 - left / (n_left * n_left))


def _weight_before(classes: npt.NDArray[Any], weight: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Give the weight of the earlier records of the same species."""
    by_class = np.argsort(classes, kind="stable")
    in_order = classes[by_class]
    before = np.cumsum(weight[by_class]) - weight[by_class]
    starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
    before -= np.repeat(before[starts], np.diff(np.append(starts, len(classes))))
    result = np.empty_like(before)
    result[by_class] = before
    return result


class _Variables:
    """Draws variables without replacement by scikit-learn's own shuffle, which skips those that are constant."""

    def __init__(self, n: int, seed: int):
        self._n = n
        self._state = seed
        self._order = list(range(n))
        self._constant = list(range(n))
        self.n_constant = 0

    def draw(self, n_known: int, n_tried: int, is_constant: Callable[[int], bool]) -> Iterator[int]:
        """Give the variables to try: not the `n_known` that an ancestor found constant, nor those found so here."""
        order, last, n_visited, n_found, n_drawn = self._order, self._n, 0, 0, 0
        while last > n_known + n_found and (n_visited < n_tried or n_visited <= n_found + n_drawn):
            n_visited += 1
            at = n_drawn + self._random() % (last - n_found - n_drawn)
            if at < n_known:
                order[n_drawn], order[at] = order[at], order[n_drawn]
                n_drawn += 1
                continue
            at += n_found
            if is_constant(order[at]):
                place = n_known + n_found
                n_found += 1
            else:
                last -= 1
                place = last
                yield order[at]
            order[place], order[at] = order[at], order[place]
        order[:n_known] = self._constant[:n_known]
        self._constant[n_known : n_known + n_found] = order[n_known : n_known + n_found]
        self.n_constant = n_known + n_found

    def _random(self) -> int:
        """Give the next number of Marsaglia's 32-bit xorshift (2003), cut to 31 bits."""
        state = self._state or 1
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        self._state = state
        return state % 2**31
