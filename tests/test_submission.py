"""Submissions from the file to the score: known answers, faults, parts, intervals, rehearsal."""

import io
import random
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit.errors import DataError, SolutionError, SubmissionError
from spatialsplit.submission import (
    check_launch,
    check_submission,
    score,
    threshold_sets,
    top_k_sets,
    write_per_row,
    write_submission,
)
from spatialsplit.submission.tables import table_from_csv
from tests.metric_vectors import agrees, csv_text, every_vector, every_vector_of_rows, submission_text

unhurried = settings(deadline=None, max_examples=60)  # other work may share the machine
TRUTH = [
    {"surveyId": 1, "predictions": "777001 777002"},
    {"surveyId": 2, "predictions": "777003"},
    {"surveyId": 3, "predictions": "777004"},
]


def outcome(solution, submission, case):
    try:
        return score(solution, submission, case["metric"], resamples=0, **case.get("options", {})).score
    except SubmissionError:
        return "submission"
    except SolutionError:
        return "solution"


def faults_of(text, solution=TRUTH, **options):
    with pytest.raises(SubmissionError, match=r"line|column") as caught:
        check_submission(solution, table_from_csv(text), **options)
    return caught.value.problems


# known answers


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


# faults


def test_all_faults_of_a_file_are_told_at_once_with_line_id_column_and_token():
    problems = faults_of("surveyId,predictions\n1,1 2.0 x\n1,3\n9,4\n2.0,5\n,6\n2,7,8\n")
    assert problems == (
        "line 7: 3 cells where the header has 2. Labels are separated by spaces.",
        "line 2, surveyId 1, column predictions: '2.0' is a decimal number, not a whole one. "
        "pandas makes decimals beside a missing value: use astype(int).",
        "line 2, surveyId 1, column predictions: 'x' is not a whole number.",
        "line 3, column surveyId: '1' is there twice, first in line 2.",
        "line 5, column surveyId: '2.0' is a decimal number, not a whole one. "
        "pandas makes decimals beside a missing value: use astype(int).",
        "line 6, column surveyId: the id is empty.",
        "line 4, column surveyId: '9' is not an id of the test.",
        "column surveyId: 1 of 3 ids are missing (first: 3). Every id needs a row; an empty prediction is legal.",
    )


def test_at_most_ten_faults_of_a_kind_are_told_and_the_others_counted():
    text = "surveyId,predictions\n" + "".join(f"{row},x{row} y\n" for row in range(1, 31))
    solution = [{"surveyId": row, "predictions": "1"} for row in range(1, 31)]
    problems = faults_of(text, solution)
    assert len(problems) == 10
    assert problems[-1].endswith("(and 50 more like this)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file is empty"),
        ("\n \n", "the file is empty"),
        ("surveyId,predictions\n", "no row below the header"),
        ("1,1\n2,2\n", "the header must be 'surveyId,predictions' and is '1,1'"),
        ("surveyId;predictions\n1;1\n2;2\n3;3\n", "separated by ';', not by ','"),
        ("surveyId\tpredictions\n1\t1\n2\t2\n3\t3\n", "separated by a tab"),
        ("surveyId,prediction\n1,1\n2,2\n3,3\n", "'predictions' is missing. 'prediction' is there"),
        (
            ",surveyId,predictions\n0,1,1\n1,2,2\n2,3,3\n",
            "column '' is not expected. Write the file with index=False",
        ),
        ("surveyId,predictions,predictions\n1,1,1\n2,2,2\n3,3,3\n", "'predictions' is there more than once"),
        ('surveyId,predictions\n1,"1\n2,2\n3,3\n', "line 2: a quotation mark is opened"),
        ("surveyId,predictions\n1,1\n2\n3,3\n", "line 3: 1 cell where the header has 2"),
        ("surveyId,predictions\n1,1\0\n2,2\n3,3\n", "line 2: holds a NUL"),
        (
            "surveyId,predictions\n1,1\n2,1|2\n3,3\n",
            "'1|2' is not a whole number. Labels are separated by spaces",
        ),
        ("surveyId,predictions\n1,1e3\n2,2\n3,3\n", "'1e3' is in exponent notation"),
        ("surveyId,predictions\n1,1_0\n2,2\n3,3\n", "'1_0' is not a whole number"),
        ("surveyId,predictions\n1,+1\n2,2\n3,3\n", r"'\+1' is not a whole number"),
        ("surveyId,predictions\n1,٣\n2,2\n3,3\n", "'٣' is not a whole number"),
        ("surveyId,predictions\n1,NA\n2,2\n3,3\n", "'NA' is not a whole number"),
        ("surveyId,predictions\n7,1\n8,2\n9,3\n", "none of the 3 ids is one of the test's 3"),
        ("surveyId,predictions\n1,1\n2,2\n", "1 of 3 ids are missing"),
        ("surveyId,predictions\n1,1\n2,2\n3,3\n1E+05,4\n", "'1E[+]05' is in exponent notation"),
    ],
)
def test_each_fault_of_a_file_has_its_words(text, message):
    assert any(re.search(message.replace("|", r"\|"), problem) for problem in faults_of(text))


def test_a_file_that_is_no_text_is_refused_with_its_line(tmp_path):
    path = tmp_path / "submission.csv"
    path.write_bytes("surveyId,predictions\n1,é\n".encode("utf-16"))
    with pytest.raises(SubmissionError, match="not UTF-8 text"):
        check_submission(TRUTH, path)


@unhurried
@given(
    st.lists(
        st.text(max_size=30).filter(lambda text: text.count("\n") + text.count("\r") == 0),
        min_size=1,
        max_size=2,
    ),
    st.sampled_from(["", "surveyId,predictions\n"]),
)
def test_no_text_whatever_crashes_the_reader_or_shows_a_true_label(lines, header):
    """A message may hold the participant's own tokens; a true label can come from the solution alone."""
    text = header + "\n".join(lines)
    # two rows at most could be right by chance, so the third id is always missing
    with pytest.raises(SubmissionError, match=r"line|column") as caught:
        check_submission(TRUTH, table_from_csv(text))
    assert "777" not in str(caught.value)


@pytest.mark.parametrize(
    ("solution", "options", "message"),
    [
        (
            [{"surveyId": 1, "predictions": "777001 x"}],
            {},
            "surveyId 1, column predictions: a token is not a whole",
        ),
        ([{"surveyId": 1, "predictions": "777001,777002"}], {}, "a token is not a whole"),
        ([{"surveyId": 1, "predictions": ""}], {}, "no true label"),
        ([{"surveyId": 1, "predictions": "777001 777002"}], {"metric": "top_k_error"}, "exactly one label"),
        ([*TRUTH, TRUTH[0]], {}, "'1' is there twice"),
        ([{**TRUTH[0], "Usage": "public"}], {}, "'public' is neither 'Public' nor 'Private'"),
        (
            [{"surveyId": 1, "predictions": "", "Usage": "Public"}, {**TRUTH[1], "Usage": "Private"}],
            {"empty_truth": "skip"},
            "The part Public cannot be scored: no row of it has a true label",
        ),
        ([{"survey": 1, "species": "777001"}], {}, "'survey,species' of the solution are not known"),
    ],
)
def test_a_fault_of_the_solution_is_the_organizers_and_shows_no_truth(solution, options, message):
    with pytest.raises(SolutionError, match=message) as caught:
        score(solution, [], **options)
    assert "777" not in str(caught.value)


def test_the_true_flag_of_fathomnet_is_0_or_1():
    solution = [{"id": name, "categories": "1", "osd": osd} for name, osd in (("a", 1), ("b", 0), ("c", 0.5))]
    with pytest.raises(SolutionError, match="row 3, id c, column osd: the flag must be 0 or 1"):
        score(solution, [], "fathomnet")


def test_both_classes_are_needed_in_each_part_of_fathomnet():
    rows = [("a", 1, "Public"), ("b", 0, "Public"), ("c", 1, "Private"), ("d", 1, "Private")]
    solution = [{"id": name, "categories": "1", "osd": osd, "Usage": usage} for name, osd, usage in rows]
    with pytest.raises(SolutionError, match="The part Private cannot be scored: all its rows have the same flag"):
        score(solution, [], "fathomnet")


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("f1_sample", {}, "Unknown metric 'f1_sample'.*Did you mean 'f1_samples'"),
        ("f1_samples", {"k": 3}, "Unknown option 'k' of f1_samples. Known: empty_truth, require_sorted"),
        ("top_k_error", {"k": "3"}, "Invalid k '3' of top_k_error. It must be of type int"),
        ("jaccard_fbeta", {"matching": "best"}, "Invalid matching 'best'"),
    ],
)
def test_an_unknown_metric_or_option_is_refused(metric, options, message):
    with pytest.raises(DataError, match=message):
        score(TRUTH, TRUTH, metric, **options)


# what is accepted


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


# parts, rows, interval


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


# rehearsal


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


# participants


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


GOLDEN_INTERVAL = (1 / 3, 5 / 6)
