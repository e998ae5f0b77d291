"""What is wrong with a submission or a solution: each fault has its words, and none shows a true label."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialsplit.errors import DataError, SolutionError, SubmissionError
from spatialsplit.submission import (
    check_submission,
    score,
)
from spatialsplit.submission.tables import table_from_csv

unhurried = settings(deadline=None, max_examples=60)  # other work may share the machine
TRUTH = [
    {"surveyId": 1, "predictions": "777001 777002"},
    {"surveyId": 2, "predictions": "777003"},
    {"surveyId": 3, "predictions": "777004"},
]


def faults_of(text, solution=TRUTH, **options):
    with pytest.raises(SubmissionError, match=r"line|column") as caught:
        check_submission(solution, table_from_csv(text), **options)
    return caught.value.problems


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
