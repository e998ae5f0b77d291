"""`check-submission`, `score` and `export` as a person or a script calls them."""

import csv
import json
import subprocess
import sys

import pytest

from spatialsplit.cli import main
from tests.metric_vectors import agrees, csv_text, every_vector, submission_text
from tests.test_exports import dataset

SOLUTION = "surveyId,predictions,Usage,quadratId\n1,777001,Public,A\n2,777002 777003,Private,B\n3,777004,Private,C\n"
ANSWERS = "surveyId,predictions\n1,777001\n2,777002\n3,5\n"


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Write files and call the command line in this process; give exit code, stdout and stderr."""

    def run(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_bytes(text.encode())
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["spatialsplit", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        output = capsys.readouterr()
        return stopped.value.code, output.out, output.err

    return run


def on_files(command, *more, metric="f1_samples"):
    files = ("--solution", "solution.csv", "--submission", "submission.csv")
    return (command, "--metric", metric, *files, *more)


def option_arguments(options):
    for name, value in options.items():
        yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield str(value)


@every_vector
def test_known_answers_through_the_command_line(case, call):
    arguments = on_files("score", "--json", *option_arguments(case.get("options", {})), metric=case["metric"])
    code, out, err = call(*arguments, solution=csv_text(case["solution"]), submission=submission_text(case))
    if code == 0:
        assert agrees(case, json.loads(out)["score"])
    else:
        assert agrees(case, "solution" if err.startswith("solution.csv (solution)") else "submission"), err
        assert (code, out) == (1, "")


def test_score_prints_json_with_parts_numbers_and_interval(call):
    code, out, _ = call(*on_files("score", "--json"), solution=SOLUTION, submission=ANSWERS)
    result = json.loads(out)
    assert code == 0
    assert (result["metric"], result["public"], result["n"]) == ("f1_samples", 1.0, 3)
    assert result["private"] == pytest.approx(1 / 3)
    assert (result["interval"]["unit"], result["interval"]["resamples"]) == ("quadratId", 1000)


def test_score_without_usage_has_null_for_the_parts(call):
    _, out, _ = call(
        *on_files("score", "--json"),
        solution="surveyId,predictions\n1,1\n",
        submission="surveyId,predictions\n1,1\n",
    )
    result = json.loads(out)
    assert (result["score"], result["public"], result["private"], result["interval"]) == (1, None, None, None)


def test_score_prints_a_table_for_a_person(call):
    _, out, _ = call(*on_files("score"), solution=SOLUTION, submission=ANSWERS)
    assert out.splitlines() == [
        "f1_samples (higher is better)",
        "All      0.555556          3 rows",
        "Public   1.000000          1 row",
        "Private  0.333333          2 rows",
        "95 % interval of All: 0.000000 to 1.000000 (1,000 resamples of 3 quadrats, seed 0)",
    ]


def test_per_row_numbers_go_to_a_file(call, tmp_path):
    call(*on_files("score", "--per-row", "rows.csv"), solution=SOLUTION, submission=ANSWERS)
    rows = list(csv.reader((tmp_path / "rows.csv").read_text().splitlines()))
    assert rows == [["surveyId", "f1_samples"], ["1", "1.0"], ["2", "0.6666666666666666"], ["3", "0.0"]]


def test_quadrats_for_the_interval_come_from_a_file(call):
    groups = "surveyId;quadratId\n1;A\n2;A\n3;B\n"
    arguments = on_files("score", "--json", "--groups", "groups.csv", "--resamples", "50", "--seed", "x")
    _, out, _ = call(*arguments, solution=SOLUTION, submission=ANSWERS, groups=groups)
    interval = json.loads(out)["interval"]
    assert (interval["n_units"], interval["resamples"], interval["seed"]) == (2, 50, "x")


def test_check_submission_needs_the_blinded_table_alone(call):
    blind = "surveyId,lon,lat\n1,7.1,46.2\n2,7.2,46.3\n3,7.3,46.4\n"
    code, out, err = call(*on_files("check-submission"), solution=blind, submission=ANSWERS)
    assert (code, out, err) == (0, "submission.csv: no faults.\n", "")


def test_check_submission_tells_each_fault_on_a_line_of_stderr_and_no_truth(call):
    answers = "surveyId,predictions\n1,5 x\n2,7.0\n9,1\n"
    code, out, err = call(*on_files("check-submission"), solution=SOLUTION, submission=answers)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 4
    assert "submission.csv: line 2, surveyId 1, column predictions: 'x' is not a whole number." in err
    assert "777" not in err


def test_labels_out_of_order_are_noted_and_no_fault(call):
    answers = ANSWERS.replace("3,5", "3,5 4")
    code, _, err = call(*on_files("check-submission"), solution=SOLUTION, submission=answers)
    assert (code, err) == (
        0,
        "submission.csv: note: labels out of order, rows: 1 (first: 3); the score is the same.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (on_files("score", "--k", "3"), "--k does not belong to the metric f1_samples"),
        (on_files("score", metric="f2"), "'f2' is not one of"),
        (("score", "--metric", "f1_samples"), "Missing option '--solution'"),
    ],
)
def test_wrong_usage_has_exit_code_2(call, arguments, message):
    code, _, err = call(*arguments, solution=SOLUTION, submission=ANSWERS)
    assert code == 2
    assert message in err


def test_export_kaggle_shows_the_rehearsal(call, tmp_path):
    dataset(tmp_path / "data")
    code, out, err = call("export", "kaggle", "--data", "data", "--out", "kaggle")
    assert (code, out) == (0, "kaggle\n")
    assert [line.split()[0] for line in err.splitlines()] == [
        "f1_samples",
        "sample",
        "empty",
        "perfect",
        "everything",
    ]


def test_export_kaggle_warns_that_rows_would_be_drawn_without_usage(call, tmp_path):
    dataset(tmp_path / "data", usage=False)
    _, _, err = call("export", "kaggle", "--data", "data", "--out", "kaggle")
    assert "no Usage column: Kaggle will draw rows, not quadrats" in err


def test_export_codabench_writes_a_bundle(call, tmp_path):
    dataset(tmp_path / "data")
    assert call("export", "codabench", "--data", "data", "--out", "bundle.zip")[:2] == (0, "bundle.zip\n")
    assert (tmp_path / "bundle.zip").stat().st_size > 5000


def test_a_broken_competition_has_exit_code_1_and_a_line_a_reason(call, tmp_path):
    dataset(tmp_path / "data", solution="surveyId,predictions\n1,\n2,3\n3,4\n")
    code, _, err = call("export", "kaggle", "--data", "data", "--out", "kaggle")
    assert code == 1
    assert "there is no true label" in err


def test_scoring_as_a_process_imports_neither_pandas_nor_scipy(tmp_path):
    """What makes a score of 20,000 surveys a matter of half a second and 70 MB."""
    (tmp_path / "solution.csv").write_text(SOLUTION)
    (tmp_path / "submission.csv").write_text(ANSWERS)
    code = (
        "import sys, atexit; from spatialsplit.cli import main; sys.argv[0] = 'spatialsplit';"
        "heavy = {'pandas', 'scipy', 'pyarrow'};"
        "atexit.register(lambda: print(heavy & set(sys.modules), file=sys.stderr)); main()"
    )
    command = [sys.executable, "-c", code, *on_files("score")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (0, "set()")
