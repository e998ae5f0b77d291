"""The metrics as arithmetic: laws for every input, and agreement with independent implementations."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.preprocessing import MultiLabelBinarizer

from spatialsplit.errors import DataError, SolutionError, SubmissionError
from spatialsplit.metrics import (
    average_precision_at_k,
    f1_samples,
    fathomnet_score,
    jaccard_fbeta,
    rescaled_auc,
    top_k_error,
)
from spatialsplit.metrics.strings import MATCHINGS, clean_truths, count_matches

unhurried = settings(deadline=None, max_examples=60)  # other work may share the machine
labels = st.integers(0, 12)
label_sets = st.frozensets(labels, min_size=1, max_size=6)
label_lists = st.lists(labels, max_size=8)
set_rows = st.lists(st.tuples(label_sets, label_lists), min_size=1, max_size=8)
candidate_rows = st.lists(st.tuples(labels, label_lists), min_size=1, max_size=8)
confidences = st.floats(-5, 5, allow_nan=False)
images = st.lists(st.tuples(label_sets, label_lists, st.booleans(), confidences), min_size=2, max_size=9).filter(
    lambda rows: len({is_out for _, _, is_out, _ in rows}) == 2
)
phrases = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4).map(" ".join)
phrase_rows = st.lists(
    st.tuples(st.lists(phrases, min_size=1, max_size=4), st.lists(phrases, max_size=4)),
    min_size=1,
    max_size=5,
)
WRONG = 99


def columns(rows):
    return map(list, zip(*rows, strict=True))


SCORERS = {
    "f1_samples": (set_rows, lambda rows: f1_samples(*columns(rows))),
    "top_k_error": (candidate_rows, lambda rows: top_k_error(*columns(rows))),
    "fathomnet": (images, lambda rows: fathomnet_score(*columns(rows))),
    "jaccard_fbeta": (phrase_rows, lambda rows: jaccard_fbeta(*columns(rows))),
}


@pytest.mark.parametrize("metric", SCORERS)
@unhurried
@given(data=st.data())
def test_the_order_of_rows_changes_nothing_not_even_the_last_digit(metric, data):
    rows_strategy, scorer = SCORERS[metric]
    rows = data.draw(rows_strategy)
    assert scorer(data.draw(st.permutations(rows))) == scorer(rows)


@pytest.mark.parametrize("metric", ["f1_samples", "top_k_error"])
@unhurried
@given(data=st.data())
def test_the_order_of_labels_changes_nothing_where_sets_are_scored(metric, data):
    rows_strategy, scorer = SCORERS[metric]
    rows = data.draw(rows_strategy)
    shuffled = [(truth, data.draw(st.permutations(answer))) for truth, answer in rows]
    assert scorer(shuffled) == scorer(rows)


@unhurried
@given(images)
def test_any_increasing_map_of_the_confidence_changes_nothing(rows):
    truths, answers, out, confidence = columns(rows)
    ranks = {value: rank for rank, value in enumerate(sorted(set(confidence)))}
    mapped = [math.exp(ranks[value]) - 100 for value in confidence]
    assert fathomnet_score(truths, answers, out, mapped) == fathomnet_score(truths, answers, out, confidence)


@unhurried
@given(set_rows, st.data())
def test_a_wrong_label_never_helps_f1(rows, data):
    truths, answers = columns(rows)
    row = data.draw(st.integers(0, len(rows) - 1))
    worse = [[*answer, WRONG] if number == row else answer for number, answer in enumerate(answers)]
    assert f1_samples(truths, worse) <= f1_samples(truths, answers)


@unhurried
@given(label_sets, label_lists, st.integers(0, 8), st.sampled_from(["keep_rank", "compact"]))
def test_a_wrong_label_anywhere_never_helps_average_precision(truth, ranking, place, duplicates):
    worse = [*ranking[:place], WRONG, *ranking[place:]]
    before = average_precision_at_k(truth, ranking, duplicates=duplicates)
    assert average_precision_at_k(truth, worse, duplicates=duplicates) <= before


@unhurried
@given(candidate_rows, st.integers(0, 8))
def test_a_wrong_candidate_never_lowers_the_top_k_error(rows, place):
    truths, answers = columns(rows)
    worse = [[*answer[:place], WRONG, *answer[place:]] for answer in answers]
    before = top_k_error(truths, answers, k=5, on_excess="truncate")
    assert top_k_error(truths, worse, k=5, on_excess="truncate") >= before


@pytest.mark.parametrize("metric", ["f1_samples", "top_k_error"])
@unhurried
@given(data=st.data())
def test_the_whole_is_the_weighted_mean_of_its_parts(metric, data):
    rows_strategy, scorer = SCORERS[metric]
    one, other = data.draw(rows_strategy), data.draw(rows_strategy)
    weighted = (len(one) * scorer(one) + len(other) * scorer(other)) / (len(one) + len(other))
    assert scorer(one + other) == pytest.approx(weighted, abs=1e-12)


def test_an_auc_is_no_mean_of_its_parts():
    """Two parts of score 1 each can be 3/4 together: each part must be scored from its own rows."""
    public, private = ([[1], [7]], [1, 0], [0.9, 0.8]), ([[1], [7]], [1, 0], [0.2, 0.1])
    for lists, out, confidence in (public, private):
        assert fathomnet_score(lists, lists, out, confidence) == 1
    lists, out, confidence = (a + b for a, b in zip(public, private, strict=True))
    assert fathomnet_score(lists, lists, out, confidence) == 0.75


@unhurried
@given(set_rows)
def test_a_perfect_answer_is_the_optimum_of_f1(rows):
    truths = [truth for truth, _ in rows]
    assert f1_samples(truths, truths) == 1


@unhurried
@given(images)
def test_a_perfect_answer_is_the_optimum_of_fathomnet(rows):
    truths, _, out, _ = columns(rows)
    assert fathomnet_score(truths, [sorted(truth) for truth in truths], out, out) == 1


@pytest.mark.parametrize("matching", ["greedy", "optimal", "pred_major", "any_overlap"])
@unhurried
@given(phrase_rows)
def test_a_perfect_answer_is_the_optimum_of_jaccard(matching, rows):
    """Not of per_truth: it lets two truths with equal sets of tokens choose the same prediction."""
    truths = [texts for texts, _ in rows]
    assert jaccard_fbeta(truths, list(map(clean_truths, truths)), matching=matching) == 1


@unhurried
@given(set_rows, st.floats(0.25, 4))
def test_f1_agrees_with_scikit_learn(rows, beta):
    truths, answers = columns(rows)
    binarizer = MultiLabelBinarizer(classes=range(13)).fit([[]])
    one, other = binarizer.transform(truths), binarizer.transform([set(answer) for answer in answers])
    theirs = f1_score(one, other, average="samples", zero_division=0)
    assert f1_samples(truths, answers) == pytest.approx(theirs, abs=1e-12)
    assert 0 <= f1_samples(truths, answers, beta=beta) <= 1


@unhurried
@given(images)
def test_auc_agrees_with_scikit_learn(rows):
    _, _, out, confidence = columns(rows)
    assert rescaled_auc(out, confidence) == pytest.approx(2 * roc_auc_score(out, confidence) - 1, abs=1e-12)


@unhurried
@given(st.lists(phrases, min_size=1, max_size=6), st.lists(phrases, max_size=6))
def test_optimal_matching_agrees_with_an_assignment_solver(truths, answers):
    truths = clean_truths(truths)
    sets = [set(text.split()) for text in truths], [set(text.split()) for text in sorted(answers)]
    pairs = np.array([[2 * len(one & other) >= len(one | other) for other in sets[1]] for one in sets[0]])
    pairs = pairs.reshape(len(truths), len(answers))
    hits = int(pairs[linear_sum_assignment(pairs, maximize=True)].sum())
    assert count_matches(truths, answers, "optimal") == (hits, len(answers) - hits, len(truths) - hits)


@unhurried
@given(st.lists(phrases, min_size=1, max_size=6), st.lists(phrases, max_size=6))
def test_no_matching_that_is_one_to_one_beats_the_optimal_one(truths, answers):
    truths = clean_truths(truths)
    best = count_matches(truths, answers, "optimal")[0]
    assert all(count_matches(truths, answers, name)[0] <= best for name in ("greedy", "pred_major"))


@pytest.mark.parametrize("matching", MATCHINGS)
def test_a_row_without_predictions_has_only_false_negatives(matching):
    assert count_matches(["a b", "c"], [], matching) == (0, 0, 2)


@pytest.mark.parametrize("matching", MATCHINGS)
@unhurried
@given(data=st.data())
def test_the_order_in_which_strings_are_listed_changes_nothing(matching, data):
    truths, answers = clean_truths(data.draw(st.lists(phrases, max_size=4))), data.draw(st.lists(phrases, max_size=4))
    shuffled = data.draw(st.permutations(answers))
    assert count_matches(truths, shuffled, matching) == count_matches(truths, answers, matching)


@pytest.mark.parametrize(
    ("matching", "truths", "answers", "counts"),
    [
        ("greedy", ["a x y z", "b x"], ["b x"], (1, 0, 1)),  # what does not match uses nothing up
        ("pred_major", ["a b c", "d", "e"], ["a"], (0, 1, 2)),  # here it does: the truth is no false negative
        ("any_overlap", ["a b c", "d"], ["a"], (0, 1, 1)),  # a shared token is enough not to be missed
        ("any_overlap", ["a"], ["a", "a"], (2, 0, 0)),
        ("per_truth", ["a b", "a b c"], ["a b"], (1, 0, 0)),
        ("per_truth_multi", ["a b", "a b c"], ["a b"], (2, 0, 0)),
        ("optimal", ["a b", "a b c"], ["a b"], (1, 0, 1)),
    ],
)
def test_each_reading_of_the_matching_counts_as_it_says(matching, truths, answers, counts):
    assert count_matches(truths, answers, matching) == counts


@pytest.mark.parametrize("duplicates", ["keep_rank", "compact"])
def test_a_ranking_is_cut_to_twenty_places_before_anything_else(duplicates):
    assert average_precision_at_k({1}, [*[WRONG] * 20, 1], duplicates=duplicates) == 0
    assert average_precision_at_k({1, 2}, [*[1] * 20, 2], duplicates=duplicates) == 0.5


def test_a_predicted_set_may_be_any_collection():
    assert f1_samples([{1, 2}], [[1, 1, 2]]) == f1_samples([(1, 2)], [frozenset([1, 2])]) == 1


@pytest.mark.parametrize(("rule", "expected"), [("zero", 0.25), ("one", 0.75), ("skip", 0.5)])
def test_rows_without_a_true_label_follow_the_chosen_rule(rule, expected):
    assert f1_samples([{1}, set()], [{1, 2, 3}, []], empty_truth=rule) == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: f1_samples([set()], [{1}]), SolutionError, "no true label"),
        (lambda: f1_samples([set()], [{1}], empty_truth="skip"), SolutionError, "nothing to score"),
        (lambda: f1_samples([], []), SolutionError, "no row"),
        (lambda: f1_samples([{1}], [{1}, {2}]), DataError, "different numbers of rows: 1, 2"),
        (lambda: f1_samples([{1}], [{1}], empty_truth="two"), DataError, "Invalid empty_truth 'two'"),
        (lambda: f1_samples([{1}], [{1}], beta=0), DataError, "Invalid beta 0"),
        (lambda: top_k_error([4], [[1, 2]], k=1), SubmissionError, "2 candidates; at most 1"),
        (lambda: top_k_error([4], [[1]], k=2, exact_k=True), SubmissionError, "1 candidates; exactly 2"),
        (lambda: top_k_error([4], [[1]], k=0), DataError, "Invalid k 0"),
        (lambda: rescaled_auc([1, 1], [0.1, 0.2]), SolutionError, "one class"),
        (lambda: fathomnet_score([[]], [[1]], [1], [1]), SolutionError, "no true label"),
        (lambda: jaccard_fbeta([["--"]], [["a"]]), SolutionError, "No row has a truth"),
        (lambda: jaccard_fbeta([["a"]], [["a"]], matching="best"), DataError, "Known: greedy, optimal"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_its_reason(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_importing_the_metrics_imports_nothing_heavy():
    """A scorer that only needs the formulas must not wait for pandas."""
    code = "import sys, spatialsplit.metrics; print(sorted({'numpy', 'pandas', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
