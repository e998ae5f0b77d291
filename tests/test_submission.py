"""Submissions from the file to the score: known answers, what is accepted, parts, rows and intervals."""

import io
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit.errors import DataError, SolutionError, SubmissionError
from spatialsplit.submission import (
    check_submission,
    score,
    write_per_row,
)
from spatialsplit.submission.tables import table_from_csv
from tests.metric_vectors import agrees, csv_text, every_vector, every_vector_of_rows, submission_text

unhurried = settings(deadline=None, max_examples=60)  # other work may share the machine
TRUTH = [
    {"surveyId": 1, "predictions": "777001 777002"},
    {"surveyId": 2, "predictions": "777003"},
    {"surveyId": 3, "predictions": "777004"},
]
GOLDEN_INTERVAL = (1 / 3, 5 / 6)


def outcome(solution, submission, case):
    try:
        return score(solution, submission, case["metric"], resamples=0, **case.get("options", {})).score
    except SubmissionError:
        return "submission"
    except SolutionError:
        return "solution"


@every_vector
def test_known_answers_through_rows(case):
    sent = case["submission"] if "submission" in case else table_from_csv(case["submission_csv"])
    assert agrees(case, outcome(case["solution"], sent, case))


@every_vector
def test_known_answers_through_csv_text(case):
    solution = table_from_csv(csv_text(case["solution"]), ",;\t")
    assert agrees(case, outcome(solution, table_from_csv(submission_text(case)), case))


@every_vector_of_rows
def test_known_answers_through_data_frames(case):
    frames = pd.DataFrame(case["solution"]), pd.DataFrame(case["submission"])
    assert agrees(case, outcome(*frames, case))


@every_vector
def test_known_answers_through_files(case, tmp_path):
    solution, submission = tmp_path / "solution.csv", tmp_path / "submission.csv"
    solution.write_text(csv_text(case["solution"]), "utf-8")
    submission.write_bytes(submission_text(case).encode())
    assert agrees(case, outcome(solution, str(submission), case))


def test_a_blinded_table_stands_in_for_the_solution():
    blind = [{"surveyId": row["surveyId"], "lon": 1.5} for row in TRUTH]
    assert check_submission(blind, TRUTH) == ()
    with pytest.raises(SubmissionError, match="2 of 3 ids are missing"):
        check_submission(blind, TRUTH[:1])


def test_the_blinded_table_of_2022_names_its_ids_otherwise():
    blind = table_from_csv("observation_id;latitude\n5;1.0\n", ";")
    assert check_submission(blind, [{"Id": 5, "Predicted": "1 2"}], "top_k_error") == ()


def test_the_organizers_file_may_be_separated_by_semicolons(tmp_path):
    path = tmp_path / "solution.csv"
    path.write_text("Id;Expected\n1;3 4\n")
    assert score(path, [{"Id": 1, "Predicted": "3 4"}]).score == 1


def test_known_columns_are_found_and_others_named():
    renamed = [{"plot": 1, "truth": "3"}], [{"plot": 1, "guess": "3"}]
    assert score(*renamed, id_col="plot", sol_col="truth", sub_col="guess").score == 1
    assert score([{"surveyId": 1, "target_species_ids": "3"}], [{"surveyId": 1, "predictions": "3"}]).score == 1


def test_quotes_may_follow_the_space_after_a_comma():
    sent = table_from_csv('surveyId, predictions\n1, "777001 777002"\n2, "777003"\n3, "777004"\n')
    assert score(TRUTH, sent).score == 1


def test_labels_out_of_order_are_accepted_with_a_note():
    answers = [{**TRUTH[0], "predictions": "9 3"}, *TRUTH[1:]]
    assert check_submission(TRUTH, answers) == ("labels out of order, rows: 1 (first: 1); the score is the same.",)


def test_a_cell_may_be_longer_than_the_csv_module_reads_by_itself():
    many = " ".join(map(str, range(40_000)))
    assert score([{"surveyId": 1, "predictions": "1"}], table_from_csv(f"surveyId,predictions\n1,{many}\n")).n == 1


def test_guessed_types_of_a_data_frame_give_the_same_score():
    text = "surveyId,predictions\n1,777001\n2,777003\n3,\n"
    frame = pd.read_csv(io.StringIO(text))
    assert frame["predictions"].dtype == float
    assert score(TRUTH, frame).score == score(TRUTH, table_from_csv(text)).score


def test_parts_are_scored_from_their_own_rows():
    usages = ["Public", "Private", "Private"]
    solution = [{**row, "Usage": usage} for row, usage in zip(TRUTH, usages, strict=True)]
    answers = [{"surveyId": row["surveyId"], "predictions": "777003"} for row in TRUTH]
    result = score(solution, answers)
    assert (result.public, result.private, result.n_public, result.n_private) == (0, 0.5, 1, 2)
    assert result.score == pytest.approx(1 / 3)
    assert result.as_dict()["interval"]["unit"] == "row"


def test_without_usage_there_is_no_public_and_no_private_score():
    result = score(TRUTH, TRUTH).as_dict()
    assert (result["score"], result["public"], result["private"], result["n"]) == (1, None, None, 3)


def test_per_row_numbers_are_in_the_order_of_the_solution(tmp_path):
    write_per_row(score(TRUTH, list(reversed(TRUTH))), tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "surveyId,f1_samples\n1,1.0\n2,1.0\n3,1.0\n"


def patchy_competition(n_quadrats=30, n_surveys=20):
    """Make surveys that resemble each other within a quadrat: a quadrat is predicted well or not at all."""
    draw = random.Random(1)
    solution, answers = [], []
    for quadrat in range(n_quadrats):
        is_right = draw.random() < 0.5
        for survey in range(n_surveys):
            row_id = quadrat * n_surveys + survey
            solution.append({"surveyId": row_id, "predictions": "1", "quadratId": f"Q{quadrat}"})
            answers.append({"surveyId": row_id, "predictions": "1" if is_right else "2"})
    return solution, answers


def test_resampling_whole_quadrats_tells_how_unsure_a_patchy_score_is():
    """Surveys of one quadrat are no independent evidence: an interval over rows would be far too narrow."""
    solution, answers = patchy_competition()
    by_quadrat = score(solution, answers).interval
    by_row = score([{k: v for k, v in row.items() if k != "quadratId"} for row in solution], answers).interval
    assert (by_quadrat.unit, by_quadrat.n_units, by_quadrat.resamples) == ("quadratId", 30, 1000)
    assert by_quadrat.high - by_quadrat.low > 3 * (by_row.high - by_row.low)
    assert by_quadrat.low < score(solution, answers).score < by_quadrat.high


def test_an_interval_is_the_same_on_every_platform():
    """Golden numbers: a change here is a change for everybody who published an interval."""
    solution, answers = patchy_competition(12, 3)
    interval = score(solution, answers, seed="golden").interval
    assert (interval.low, interval.high) == GOLDEN_INTERVAL
    shuffled = random.Random(2).sample(solution, len(solution))
    assert score(shuffled, answers, seed="golden").interval == interval


def test_quadrats_may_come_from_a_table_that_repeats_its_ids():
    solution, answers = patchy_competition(4, 2)
    groups = [{"surveyId": row["surveyId"], "quadratId": row["quadratId"]} for row in solution for _ in range(2)]
    bare = [{k: v for k, v in row.items() if k != "quadratId"} for row in solution]
    assert score(bare, answers, groups=groups).interval == score(solution, answers).interval
    with pytest.raises(DataError, match="lacks 2 of 8 ids"):
        score(bare, answers, groups=groups[4:])
    with pytest.raises(DataError, match="surveyId 0 in two quadrats: Q0 and Q9"):
        score(bare, answers, groups=[*groups, {"surveyId": 0, "quadratId": "Q9"}])
    with pytest.raises(DataError, match="has no column 'quadratId'"):
        score(bare, answers, groups=bare)


def test_one_quadrat_has_no_interval():
    assert (
        score(TRUTH, TRUTH, groups=[{"surveyId": row["surveyId"], "quadratId": "Q"} for row in TRUTH]).interval is None
    )


@unhurried
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 4)), min_size=4, max_size=8))
def test_the_interval_of_fathomnet_resamples_the_metric_itself(rows):
    """The weighted AUC of a resample must be that of the rows written as often as they were drawn."""
    from spatialsplit.submission.intervals import _scorer
    from spatialsplit.submission.tasks import FathomNet

    rows = [(True, 3, 1), (False, 2, 1), *rows]
    tallies = [(0.5, int(is_out), float(confidence)) for is_out, confidence, _ in rows]
    weights = np.array([count for _, _, count in rows])
    written = [tally for tally, count in zip(tallies, weights, strict=True) for _ in range(count)]
    weighted = _scorer(FathomNet(), tallies, np.arange(len(rows)), len(rows))(weights)
    assert weighted == pytest.approx(FathomNet().combine(written), abs=1e-9)
