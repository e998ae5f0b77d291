"""What participants write: submissions in each format, from probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit.errors import DataError, SubmissionError
from spatialsplit.submission import (
    score,
    threshold_sets,
    top_k_sets,
    write_submission,
)

unhurried = settings(deadline=None, max_examples=60)  # other work may share the machine
TRUTH = [
    {"surveyId": 1, "predictions": "777001 777002"},
    {"surveyId": 2, "predictions": "777003"},
    {"surveyId": 3, "predictions": "777004"},
]


def test_a_written_submission_is_sorted_and_scores(tmp_path):
    path = tmp_path / "submission.csv"
    blind = [{"surveyId": row["surveyId"]} for row in TRUTH]
    write_submission(path, {3: [777004], 1: [777002, 777001, 777002], 2: []}, test=blind)
    assert path.read_text() == "surveyId,predictions\n1,777001 777002\n2,\n3,777004\n"
    assert score(TRUTH, path).score == pytest.approx(2 / 3)


def test_a_submission_with_faults_is_not_written(tmp_path):
    path = tmp_path / "submission.csv"
    with pytest.raises(SubmissionError, match="2 of 3 ids are missing"):
        write_submission(path, {1: [1]}, test=TRUTH)
    with pytest.raises(SubmissionError, match=r"'1\.5' is a decimal"):
        write_submission(path, {1: [1.5]})
    assert not path.exists()


@pytest.mark.parametrize(
    ("metric", "predictions", "text"),
    [
        ("top_k_error", {2: [9, 3], 1: [1]}, "surveyId,predictions\n1,1\n2,9 3\n"),
        ("fathomnet", {"a": ([5, 1], 0.25)}, "id,categories,osd\na,5 1,0.25\n"),
        ("jaccard_fbeta", {"p": ["adni, x", "nhanes"]}, 'Id,PredictionString\np,"adni, x|nhanes"\n'),
    ],
)
def test_every_metric_has_its_submission_format(tmp_path, metric, predictions, text):
    write_submission(tmp_path / "s.csv", predictions, metric=metric)
    assert (tmp_path / "s.csv").read_text() == text


@unhurried
@given(st.integers(1, 6), st.integers(0, 1000))
def test_top_k_sets_hold_the_most_probable_species_whatever_the_order_of_columns(k, seed):
    generator = np.random.Generator(np.random.PCG64(seed))
    probabilities, species = generator.integers(0, 4, (3, 6)) / 4, generator.permutation(50)[:6]
    chosen = top_k_sets(probabilities, species.tolist(), k)
    expected = [
        sorted(sorted(species.tolist(), key=lambda name: (-row[species.tolist().index(name)], name))[:k])
        for row in probabilities
    ]
    assert chosen == expected


def test_threshold_sets_fall_back_to_the_most_probable_species():
    assert threshold_sets([[0.5, 0.4], [0.1, 0.2]], [7, 3], 0.5) == [[7], [3]]
    assert threshold_sets([[0.1, 0.2]], [7, 3], 0.5, at_least=0) == [[]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: top_k_sets([[0.1, 0.2]], [1], 1), "do not fit"),
        (lambda: top_k_sets([[0.1, 0.2]], [1, 1], 1), "each once"),
        (lambda: top_k_sets([[0.1, np.nan]], [1, 2], 1), "finite"),
        (lambda: top_k_sets([[0.1, 0.2]], [1, 2], 3), "Invalid k 3"),
        (lambda: threshold_sets([[0.1, 0.2]], [1, 2], 0.5, at_least=3), "Invalid at_least 3"),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()
