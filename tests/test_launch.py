"""A competition before it opens: rehearsed with submissions of known quality, and refused if it is broken."""

import pytest

from spatialsplit.errors import SolutionError
from spatialsplit.submission import (
    check_launch,
)

TRUTH = [
    {"surveyId": 1, "predictions": "777001 777002"},
    {"surveyId": 2, "predictions": "777003"},
    {"surveyId": 3, "predictions": "777004"},
]


SAMPLE = [{"surveyId": row["surveyId"], "predictions": "0"} for row in TRUTH]


def test_a_sound_competition_is_rehearsed_with_four_scores():
    launch = check_launch(TRUTH, SAMPLE)
    scores = {trial.name: trial.scores["score"] for trial in launch.trials}
    assert list(scores) == ["sample", "empty", "perfect", "everything"]
    assert (scores["sample"], scores["empty"], scores["perfect"]) == (0, 0, 1)
    assert 0 < scores["everything"] < 1


FLAGS = [{"id": name, "categories": "1 1 2", "osd": osd} for name, osd in (("a", 1), ("b", 0))]
TEXTS = [{"Id": "p", "PredictionString": "ADNI (x)|adni"}, {"Id": "q", "PredictionString": ""}]
SINGLES = [{"Id": row, "Expected": row} for row in range(1, 4)]


@pytest.mark.parametrize(
    ("metric", "solution", "sample", "options"),
    [
        ("fathomnet", FLAGS, [{**row, "osd": 0.5} for row in FLAGS], {}),
        ("jaccard_fbeta", TEXTS, TEXTS, {}),
        ("top_k_error", SINGLES, [{"Id": row, "Predicted": "7 8"} for row in range(1, 4)], {"k": 2}),
        (
            "top_k_error",
            SINGLES,
            [{"Id": row, "Predicted": "7 8"} for row in range(1, 4)],
            {"k": 2, "exact_k": True},
        ),
        ("f1_samples", TRUTH, SAMPLE, {"require_sorted": True}),
    ],
)
def test_every_metric_can_be_rehearsed(metric, solution, sample, options):
    launch = check_launch(solution, sample, metric, **options)
    perfect = next(trial for trial in launch.trials if trial.name == "perfect")
    assert perfect.scores["score"] == (0 if metric == "top_k_error" else 1)


def test_an_everything_submission_is_tried_only_where_it_is_legal():
    everything = check_launch(
        SINGLES, [{"Id": row, "Predicted": ""} for row in range(1, 4)], "top_k_error", k=2
    ).trials[-1]
    assert everything.scores == {}
    assert "at most 2" in everything.reason


@pytest.mark.parametrize(
    ("solution", "sample", "options", "message"),
    [
        (
            TRUTH,
            SAMPLE[:2],
            {},
            "The sample submission does not fit: column surveyId: 1 of 3 ids are missing",
        ),
        (TRUTH, [*SAMPLE, {"surveyId": 9, "predictions": "0"}], {}, "'9' is not an id of the test"),
        ([{**row, "Usage": "Public"} for row in TRUTH], SAMPLE, {}, "The part Private has no row"),
        ([{**TRUTH[0], "predictions": ""}, *TRUTH[1:]], SAMPLE, {}, "no true label"),
        (
            [{**TRUTH[0], "predictions": ""}, *TRUTH[1:]],
            SAMPLE,
            {"empty_truth": "zero"},
            "A perfect submission scores 0.666667 and not 1 in the part All",
        ),
        (
            [{**row, "predictions": ""} for row in TRUTH[:2]] + TRUTH[2:],
            SAMPLE,
            {"empty_truth": "one"},
            r"An empty submission scores 0.666667 in the part All, better than the sample one \(0.000000\)",
        ),
    ],
)
def test_a_broken_competition_is_refused_before_it_opens(solution, sample, options, message):
    with pytest.raises(SolutionError, match=message):
        check_launch(solution, sample, **options)


def test_a_scorer_that_forgets_recall_does_not_pass_the_rehearsal(monkeypatch):
    """The launch-day fault of the Coleridge competition: one right string was enough."""
    from spatialsplit.metrics import strings
    from spatialsplit.submission import tasks

    def without_recall(*row):
        tp, fp, _ = strings.count_matches(*row)
        return tp, fp + (not tp), 0

    monkeypatch.setattr(tasks, "count_matches", without_recall)
    texts = [{"Id": "p", "PredictionString": "adni|nhanes"}, {"Id": "q", "PredictionString": ""}]
    with pytest.raises(SolutionError, match="A perfect submission scores"):
        check_launch(texts, texts, "jaccard_fbeta")
