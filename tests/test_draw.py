"""The draw is what the contract says in words, computed here once more from the words alone."""

from __future__ import annotations

import hashlib
import math
import random
import subprocess
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spatialsplit.draw import (
    Draw,
    DrawRules,
    Holdout,
    Labels,
    Occupied,
    check_fixed,
    check_word,
    commitment,
    commonest,
    draw_best,
    draw_quadrats,
    imbalance,
    largest_remainder,
    quadrat_number,
    quota,
)
from spatialsplit.errors import DataError
from tests.strategies import occupied, quick, shares, words

TEN = {f"q{i}": i + 1 for i in range(10)}


def number(seed: str, holdout: str, label: str) -> int:
    """Give the number of the contract: SHA-256 of `seed|holdout|label`, first 8 bytes, big-endian."""
    return int(hashlib.sha256(f"{seed}|{holdout}|{label}".encode()).hexdigest()[:16], 16)


def draw(counts: dict[str, int], *holdouts: tuple[str, float], seed: str = "s", **more: Any) -> Draw:
    strata = more.pop("strata", None)
    fixed = more.pop("fixed", None)
    rules = DrawRules([Holdout(*each) for each in holdouts], **more)
    return draw_quadrats(Occupied(list(counts), list(counts.values()), strata), rules, seed, fixed=fixed)


def taken(result: Draw, name: str) -> set[str]:
    return {label for label, subset in result.subsets.items() if subset == name}


@given(words, words, words)
@quick
def test_a_number_is_the_hash_of_three_words(seed: str, holdout: str, label: str) -> None:
    """Eight bytes, big-endian, of the words in UTF-8 with bars between."""
    assert quadrat_number(seed, holdout, label) == number(seed, holdout, label) < 2**64


@pytest.mark.parametrize("seed", ["2b7e151628aed2a6", "sämling 🌱", "5", " a b "])
def test_anyone_can_check_a_number_in_a_shell(seed: str) -> None:
    """`printf '%s' 'seed|test|LABEL' | sha256sum` gives its first 16 digits."""
    label = "CRS3035RES5000mN3210000E4320000"
    shell = subprocess.run(
        ["sh", "-c", "printf '%s' \"$1\" | sha256sum", "sh", f"{seed}|test|{label}"], capture_output=True, check=True
    )
    assert shell.stdout.decode()[:16] == f"{quadrat_number(seed, 'test', label):016x}"
    assert commitment(seed) == hashlib.sha256(seed.encode()).hexdigest()


@given(occupied, words, shares, shares)
@quick
def test_a_quota_takes_the_smallest_numbers_of_what_is_free(
    counts: dict[str, int], seed: str, first: float, second: float
) -> None:
    """`floor(share * n + 0.5)` by (number, label), test first, then val from the rest."""
    assume(first + second <= 1 and first * len(counts) >= 0.5)
    wanted = [("test", first), ("val", second)]
    free = sorted(counts)
    expected: dict[str, set[str]] = {}
    for name, share in wanted:
        order = sorted(free, key=lambda label: (number(seed, name, label), label))
        expected[name] = set(order[: math.floor(share * len(free) + 0.5)])
        free = [label for label in free if label not in expected[name]]
    assume(all(expected.values()))
    result = draw(counts, *wanted, seed=seed)
    assert {name: taken(result, name) for name, _ in wanted} == expected
    assert taken(result, "train") == set(free)


@given(occupied, words, shares)
@quick
def test_a_share_of_surveys_takes_the_prefix_that_comes_nearest(
    counts: dict[str, int], seed: str, share: float
) -> None:
    """Every prefix is tried here; of two that are equally near the shorter is right."""
    order = sorted(counts, key=lambda label: (number(seed, "test", label), label))
    wanted = Fraction(share) * sum(counts.values())
    sums = [sum(counts[label] for label in order[:k]) for k in range(len(order) + 1)]
    best = min(range(len(order) + 1), key=lambda k: (abs(sums[k] - wanted), k))
    assume(best > 0)
    assert taken(draw(counts, ("test", share), seed=seed, share_of="surveys"), "test") == set(order[:best])


def test_a_tie_between_two_prefixes_goes_to_the_shorter() -> None:
    """Half of two quadrats of two surveys each, asked for as a quarter and three quarters."""
    result = draw({"a": 2, "b": 2, "c": 2}, ("test", 0.5), share_of="surveys")
    assert len(taken(result, "test")) == 1


@given(occupied, words, shares)
@quick
def test_a_threshold_takes_each_quadrat_by_itself(counts: dict[str, int], seed: str, share: float) -> None:
    """Number < share × 2⁶⁴, in whole numbers."""
    expected = {label for label in counts if number(seed, "test", label) < Fraction(share) * 2**64}
    assume(expected)
    assert taken(draw(counts, ("test", share), seed=seed, method="threshold"), "test") == expected


@given(occupied, occupied, words)
@quick
def test_by_threshold_nothing_moves_when_quadrats_are_added(
    old: dict[str, int], new: dict[str, int], seed: str
) -> None:
    """An old quadrat keeps its subset, test and val alike."""
    holdouts = (("test", 0.4), ("val", 0.3))
    try:
        before = draw(old, *holdouts, seed=seed, method="threshold")
    except DataError:
        assume(False)
    after = draw({**new, **old}, *holdouts, seed=seed, method="threshold")
    assert {label: after.subsets[label] for label in old} == dict(before.subsets)


@given(occupied, words, st.sampled_from(["quadrats", "surveys"]), st.randoms(use_true_random=False))
@quick
def test_the_order_of_the_quadrats_does_not_show(
    counts: dict[str, int], seed: str, share_of: str, random: random.Random
) -> None:
    """The draw of a table does not depend on how the table is sorted."""
    assume(len(counts) > 3)
    strata = {label: label[0] for label in counts}
    shuffled = random.sample(sorted(counts), len(counts))
    results = []
    for labels in (list(counts), shuffled):
        try:
            some = {label: counts[label] for label in labels}
            result = draw(some, ("test", 0.4), seed=seed, share_of=share_of, strata=[strata[label] for label in labels])
        except DataError:
            assume(False)
        results.append((dict(sorted(result.subsets.items())), result.holdouts))
    assert results[0] == results[1]


@given(occupied, words, shares)
@quick
def test_strata_divide_the_overall_quota_by_largest_remainder(counts: dict[str, int], seed: str, share: float) -> None:
    """Each stratum gives the smallest numbers it has, as many as its part of the quota."""
    strata = ["abc"[len(label) % 3] for label in counts]
    total = math.floor(share * len(counts) + 0.5)
    assume(total > 0)
    result = draw(counts, ("test", share), seed=seed, strata=strata)
    parts = largest_remainder(total, {name: strata.count(name) for name in set(strata)})
    for name, part in parts.items():
        members = [label for label, stratum in zip(counts, strata, strict=True) if stratum == name]
        members.sort(key=lambda label: (number(seed, "test", label), label))
        assert taken(result, "test") & set(members) == set(members[:part])


@given(st.integers(0, 200), st.dictionaries(words, st.integers(1, 50), min_size=1, max_size=12))
@quick
def test_largest_remainder_gives_away_all_and_nobody_more_than_a_part_too_much(
    total: int, sizes: dict[str, int]
) -> None:
    """The parts sum to the total; each is its exact share rounded down or up."""
    parts = largest_remainder(total, sizes)
    assert sum(parts.values()) == total
    for name, size in sizes.items():
        exact = Fraction(total * size, sum(sizes.values()))
        assert math.floor(exact) <= parts[name] <= math.ceil(exact)


def test_a_tie_of_remainders_goes_to_the_first_by_code_point() -> None:
    """`Z` stands before `a`."""
    assert largest_remainder(1, {"a": 5, "Z": 5}) == {"a": 0, "Z": 1}


def test_the_commonest_value_is_the_first_by_code_point_of_equals() -> None:
    """A quadrat's stratum does not depend on the order of its surveys."""
    assert commonest(["b", "a", "b", "a", "Z"]) == commonest(["a", "b", "Z", "a", "b"]) == "a"


@pytest.mark.parametrize(
    ("share", "n", "expected"),
    [(0.5, 1, 1), (0.025, 20, 1), (0.025, 19, 0), (0.1 + 0.2, 5, 2), (0.3, 5, 2), (1 / 3, 3, 1)],
)
def test_a_quota_is_rounded_in_doubles(share: float, n: int, expected: int) -> None:
    """`floor(share * n + 0.5)`: a half is rounded up."""
    assert quota(share, n) == expected


def test_fixed_quadrats_take_no_part() -> None:
    """They keep their subset, are not counted as free, and what is listed but not occupied is left out."""
    result = draw(TEN, ("test", 0.5), fixed={"q0": "test", "q1": "train", "elsewhere": "test"})
    assert result.subsets["q0"] == "test"
    assert result.subsets["q1"] == "train"
    assert "elsewhere" not in result.subsets
    assert (result.holdouts[0].free, result.holdouts[0].drawn) == (8, 4)


def test_what_a_holdout_saw_and_took_is_counted() -> None:
    """Quadrats and surveys, free and drawn, one holdout after the other."""
    result = draw(TEN, ("test", 0.2), ("val", 0.25))
    test, val = result.holdouts
    assert (test.free, test.drawn, val.free, val.drawn) == (10, 2, 8, 2)
    assert test.surveys_free == 55
    assert val.surveys_free == 55 - test.surveys_drawn == 55 - sum(TEN[label] for label in taken(result, "test"))


def test_the_remainder_can_have_another_name() -> None:
    """In 2023 what was left over was the validation."""
    assert taken(draw(TEN, ("test", 0.2), remainder="val"), "val") == set(TEN) - taken(draw(TEN, ("test", 0.2)), "test")


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_a_share_outside_0_and_1_is_refused(share: float) -> None:
    """Neither nothing nor everything is a holdout."""
    with pytest.raises(DataError, match=r"Invalid share .* of the holdout 'test'\. It must lie between 0 and 1"):
        Holdout("test", share)


@pytest.mark.parametrize("word", ["", "a|b", "\udcff", 5])
def test_a_seed_that_cannot_be_hashed_as_a_word_is_refused(word: Any) -> None:
    """Empty, with the separator, bytes that are no UTF-8, or a number."""
    with pytest.raises(DataError, match=r"Invalid seed .* must be text \(UTF-8\) without '\|'"):
        check_word(word, "seed")
    with pytest.raises(DataError, match="Invalid seed"):
        draw(TEN, ("test", 0.5), seed=word)


@pytest.mark.parametrize(
    ("holdouts", "more", "said"),
    [
        ([("test", 0.6), ("val", 0.5)], {}, r"The shares sum to 1\.1, which is more than 1"),
        ([("test", 0.1), ("test", 0.1)], {}, "Holdout 'test' stands there 2 times"),
        ([("test", 0.1)], {"remainder": "test"}, "The remainder cannot be called 'test'"),
        ([("test", 0.1)], {"method": "dice"}, r"Unknown draw method 'dice'\. Known: quota, threshold"),
        ([("test", 0.1)], {"share_of": "species"}, r"Unknown share_of 'species'\. Known: quadrats, surveys"),
        ([("test", 0.1)], {"method": "threshold", "share_of": "surveys"}, "cannot count surveys"),
    ],
)
def test_impossible_rules_are_refused(holdouts: list[tuple[str, float]], more: dict[str, str], said: str) -> None:
    """A line for each rule that is impossible or contradicts another."""
    with pytest.raises(DataError, match=said):
        DrawRules([Holdout(*each) for each in holdouts], **more)


def test_shares_that_sum_to_one_are_fine_in_any_order() -> None:
    """The sum is rounded once: ten tenths are 1."""
    DrawRules([Holdout(f"h{i}", 0.1) for i in range(10)])
    DrawRules([Holdout("test", 0.1 + 0.2), Holdout("val", 0.7)])
    DrawRules([Holdout(f"h{share}", share) for share in (0.05, 0.55, 0.3, 0.1)])  # added one by one, more than 1


def test_strata_with_a_threshold_are_refused() -> None:
    """They would be ignored."""
    with pytest.raises(DataError, match="by method 'threshold' cannot have strata"):
        draw(TEN, ("test", 0.5), method="threshold", strata=["a"] * 10)


def test_a_quadrat_that_is_listed_twice_is_refused() -> None:
    """Its surveys would count once only."""
    with pytest.raises(DataError, match=r"1 quadrats stand there more than once \(first: a\)"):
        draw_quadrats(Occupied(["a", "b", "a"], [1, 1, 1]), DrawRules([Holdout("test", 0.5)]), "s")


def test_an_empty_holdout_says_the_counts_and_what_would_work() -> None:
    """A share of 0.025 of ten quadrats is none; 0.05 would be one."""
    with pytest.raises(
        DataError, match=r"'test' is empty: a share of 0\.025 of 10 .* smallest share that works is 0\.05\."
    ):
        draw(TEN, ("test", 0.025))
    assert len(taken(draw(TEN, ("test", 0.05)), "test")) == 1


@pytest.mark.parametrize("more", [{"method": "threshold"}, {"share_of": "surveys"}])
def test_an_empty_holdout_by_other_rules_says_what_would_help(more: dict[str, str]) -> None:
    """No smallest share is promised where none is known."""
    with pytest.raises(DataError, match=r"'test' is empty.*Raise the share, or use smaller quadrats"):
        draw({"a": 100, "b": 100}, ("test", 0.001), **more)


def test_a_holdout_with_nothing_left_says_so() -> None:
    """The one before it took everything."""
    with pytest.raises(DataError, match="No quadrat is left: lower the shares of the holdouts before it"):
        draw({"a": 1}, ("test", 0.5), ("val", 0.4))


def test_an_assignment_to_an_unknown_subset_is_refused() -> None:
    """With the known ones."""
    rules = DrawRules([Holdout("test", 0.1)])
    with pytest.raises(DataError, match=r"Unknown subsets in q\.csv: trian\. Known: test, train"):
        check_fixed({"a": "train", "b": "trian"}, rules, "q.csv")


class TestTheBestOfSeveralDraws:
    """Attempts are ordinary draws; the best balanced one is kept."""

    COUNTS: ClassVar = {f"q{i}": 1 + i % 3 for i in range(30)}
    LABELS = Labels(np.arange(60) % 30, np.arange(60) % 7)

    def best(self, attempts: int, rules: DrawRules | None = None) -> Any:
        rules = rules or DrawRules([Holdout("test", 0.2), Holdout("val", 0.2)])
        occupied = Occupied(list(self.COUNTS), list(self.COUNTS.values()))
        return draw_best(occupied, rules, "s", attempts, self.LABELS), occupied, rules

    def test_it_is_the_draw_with_the_smallest_objective(self) -> None:
        """One k for all holdouts; of equal ones the smallest."""
        best, occupied, rules = self.best(12)
        draws = [draw_quadrats(occupied, rules, f"s#{k}") for k in range(1, 13)]
        objectives = [imbalance(each, occupied, self.LABELS) for each in draws]
        assert best.objectives == tuple(objectives)
        assert best.attempt == 1 + objectives.index(min(objectives))
        assert best.draw == draws[best.attempt - 1]

    def test_of_equally_balanced_draws_the_first_is_kept(self) -> None:
        """Where all quadrats are alike, nothing is gained by a later attempt."""
        labels = Labels(np.arange(8), np.zeros(8, dtype=int))
        best = draw_best(Occupied(list("abcdefgh"), [1] * 8), DrawRules([Holdout("test", 0.5)]), "s", 5, labels)
        assert (best.attempt, len(set(best.objectives))) == (1, 1)

    def test_the_objective_is_the_sum_of_what_is_said_of_it(self) -> None:
        """Relative error of the share, and total variation distance of the species, computed by hand."""
        occupied = Occupied(["a", "b"], [3, 1])
        result = draw_quadrats(occupied, DrawRules([Holdout("test", 0.5)]), "s")
        label = next(iter(taken(result, "test")))
        labels = Labels(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
        share, species = (0.75, [2 / 3, 1 / 3]) if label == "a" else (0.25, [0, 1])
        expected = abs(share - 0.5) / 0.5 + (abs(species[0] - 0.5) + abs(species[1] - 0.5)) / 2
        assert imbalance(result, occupied, labels) == pytest.approx(expected)

    def test_an_attempt_with_an_empty_holdout_is_passed_over(self) -> None:
        """Others may be fine; by threshold the number of quadrats differs from attempt to attempt."""
        rules = DrawRules([Holdout("test", 0.02)], method="threshold")
        best, _, _ = self.best(40, rules)
        assert math.inf in best.objectives
        assert best.objectives[best.attempt - 1] < math.inf

    def test_no_attempt_without_an_empty_holdout_is_an_error(self) -> None:
        """With the counts of the first."""
        with pytest.raises(DataError, match="The holdout 'test' is empty"):
            self.best(5, DrawRules([Holdout("test", 0.001)]))

    def test_no_attempt_at_all_is_an_error(self) -> None:
        """One is the least."""
        with pytest.raises(DataError, match=r"Invalid attempts 0\. It must be 1 or more"):
            self.best(0)


@st.composite
def floras(draw: Any) -> tuple[dict[str, int], list[set[str]]]:
    """Quadrats with survey counts, and the species of each."""
    counts = draw(occupied)
    species = [draw(st.sets(st.sampled_from("ABCDEFG"), min_size=1, max_size=4)) for _ in counts]
    return counts, species


def labels_of(species: list[set[str]]) -> Labels:
    """Give each (quadrat, species) as a label, common ones several times."""
    pairs = [(i, ord(name) - 65) for i, held in enumerate(species) for name in sorted(held) for _ in range(1 + i % 3)]
    return Labels(np.array([i for i, _ in pairs]), np.array([code for _, code in pairs]))


def walked(order: list[str], species: dict[str, set[str]], least: int, k: int, left: dict[str, int]) -> list[str]:
    """Take k quadrats in an order, each only if all its species keep enough; `left` is counted down."""
    taken: list[str] = []
    for label in order:
        if len(taken) < k and all(left[name] > least for name in species[label]):
            taken.append(label)
            for name in species[label]:
                left[name] -= 1
    return taken


class TestSpeciesKeepQuadratsInTrain:
    """With `min_train_quadrats` no holdout takes what a species needs to be learnt."""

    @given(floras(), words, st.floats(0.05, 0.6), st.floats(0.05, 0.4), st.integers(1, 3))
    @quick
    def test_each_species_keeps_so_many_or_all(
        self, flora: tuple[dict[str, int], list[set[str]]], seed: str, first: float, second: float, least: int
    ) -> None:
        """The draw is the walk in the order of numbers that passes over what cannot go; the quota is the same."""
        counts, held = flora
        species = dict(zip(counts, held, strict=True))
        rules = DrawRules([Holdout("test", first), Holdout("val", second)], min_train_quadrats=least)
        left = {name: sum(name in each for each in held) for name in set().union(*held)}
        free, expected = list(counts), {}
        for holdout in rules.holdouts:
            order = sorted(free, key=lambda label: (number(seed, holdout.name, label), label))
            k = math.floor(holdout.share * len(free) + 0.5)
            took = walked(order, species, least, k, left)
            if len(took) < k or not k:
                with pytest.raises(DataError, match=r"cannot be filled|is empty"):
                    draw_quadrats(Occupied(list(counts), list(counts.values())), rules, seed, labels=labels_of(held))
                return
            expected |= dict.fromkeys(took, holdout.name)
            free = [label for label in free if label not in expected]
        result = draw_quadrats(Occupied(list(counts), list(counts.values())), rules, seed, labels=labels_of(held))
        assert result.subsets == {label: expected.get(label, "train") for label in counts}
        for name in left:
            n_all = sum(name in each for each in held)
            n_train = sum(name in species[label] for label, subset in result.subsets.items() if subset == "train")
            assert n_train >= min(least, n_all)

    @given(floras(), words, st.floats(0.05, 0.9))
    @quick
    def test_without_the_promise_nothing_changes(
        self, flora: tuple[dict[str, int], list[set[str]]], seed: str, share: float
    ) -> None:
        """Where no quadrat is passed over the draw is the ordinary one, by quadrats, surveys and strata."""
        counts, _ = flora
        strata = ["odd" if i % 2 else "even" for i in range(len(counts))]
        whole = Occupied(list(counts), list(counts.values()), strata)
        nobody_rare = Labels(np.arange(0), np.arange(0))
        for share_of in ("quadrats", "surveys"):
            plain = DrawRules([Holdout("test", share)], share_of=share_of)
            kept = DrawRules([Holdout("test", share)], share_of=share_of, min_train_quadrats=1)
            try:
                expected = draw_quadrats(whole, plain, seed)
            except DataError:
                continue
            assert draw_quadrats(whole, kept, seed, labels=nobody_rare) == expected

    def test_strata_and_surveys_keep_the_promise_too(self) -> None:
        """A species of two quadrats in two strata is not lost to both strata's quotas."""
        names = [f"q{i:02d}" for i in range(40)]
        strata = ["odd" if i % 2 else "even" for i in range(40)]
        labels = Labels(np.arange(40), np.arange(40) // 2)  # each species in one odd and one even quadrat
        for share_of in ("quadrats", "surveys"):
            rules = DrawRules([Holdout("test", 0.5)], share_of=share_of, min_train_quadrats=1)
            result = draw_quadrats(Occupied(names, [1] * 40, strata), rules, "s", labels=labels)
            train = {i // 2 for i, name in enumerate(names) if result.subsets[name] == "train"}
            assert train == set(range(20))
            assert result.holdouts[0].drawn == 20
            assert result.holdouts[0].passed_over > 0

    def test_what_an_earlier_release_took_is_gone(self) -> None:
        """A fixed test quadrat counts as gone: the species' other quadrat cannot go as well."""
        labels = Labels(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
        rules = DrawRules([Holdout("test", 0.34)], min_train_quadrats=1)
        for seed in "abcdefgh":
            result = draw_quadrats(Occupied(list("wxyz"), [1] * 4), rules, seed, fixed={"w": "test"}, labels=labels)
            assert result.subsets["x"] == "train"

    def test_too_few_that_can_go_is_an_error_with_the_counts(self) -> None:
        """The quota is never quietly left unfilled."""
        labels = Labels(np.arange(4), np.arange(4))
        with pytest.raises(DataError, match=r"of 4 free quadrats only 0 can go while every species keeps 1 in train"):
            draw_quadrats(
                Occupied(list("wxyz"), [1] * 4),
                DrawRules([Holdout("test", 0.5)], min_train_quadrats=1),
                "s",
                labels=labels,
            )

    def test_a_promise_without_species_is_refused(self) -> None:
        """Nothing is promised that cannot be seen; a threshold cannot promise."""
        with pytest.raises(DataError, match="needs to know which species"):
            draw_quadrats(Occupied(list("ab"), [1, 1]), DrawRules([Holdout("test", 0.5)], min_train_quadrats=1), "s")
        with pytest.raises(DataError, match="cannot keep min_train_quadrats"):
            DrawRules([Holdout("test", 0.5)], method="threshold", min_train_quadrats=1)
        for least in (-1, True, 1.5):
            with pytest.raises(DataError, match=f"Invalid min_train_quadrats {least}"):
                DrawRules([Holdout("test", 0.5)], min_train_quadrats=least)  # type: ignore[arg-type]


def test_rare_species_have_a_say_of_their_own_in_the_objective() -> None:
    """Among many attempts, the one that is kept has nearly its share of rare occurrences."""
    generator = np.random.default_rng(3)
    n = 400
    common = np.repeat(np.arange(n), 30)
    rare_quadrat = np.concatenate([generator.choice(n, 4, replace=False) for _ in range(60)])
    labels = Labels(
        np.concatenate([common, rare_quadrat]),
        np.concatenate([generator.integers(0, 30, len(common)), 30 + np.repeat(np.arange(60), 4)]),
    )
    whole = Occupied([f"q{i}" for i in range(n)], [1] * n)
    rules = DrawRules([Holdout("test", 0.1), Holdout("val", 0.1)])

    def shares(result: Draw) -> list[float]:
        subset = np.array([result.subsets[f"q{i}"] for i in range(n)])[rare_quadrat]
        return [float((subset == "test").mean()), float((subset == "val").sum() / (subset != "test").sum())]

    best = draw_best(whole, rules, "s", 60, labels, rare_quadrats=4)
    assert shares(best.draw) == pytest.approx([0.1, 0.1], abs=0.02)
    plain = imbalance(best.draw, whole, labels)
    terms = [abs(share - 0.1) / 0.1 for share in shares(best.draw)]
    assert best.objectives[best.attempt - 1] == pytest.approx(plain + sum(terms))


@pytest.mark.parametrize("share", ["0.2", None])
def test_a_share_is_a_number(share: Any) -> None:
    with pytest.raises(DataError, match="Invalid share"):
        Holdout("test", share)
