"""What a platform runs, run as the platform does: as separate programs, on all known answers."""

import ast
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from spatialsplit.errors import ManifestError, OutputError, SolutionError
from spatialsplit.exports.codabench import export_codabench, logo, program_source
from spatialsplit.exports.kaggle import export_kaggle, metric_source
from spatialsplit.exports.portable import bundle
from spatialsplit.submission import score
from spatialsplit.submission.checking import Columns
from spatialsplit.submission.settings import TASKS, read_settings
from spatialsplit.submission.tables import as_table
from tests.metric_vectors import CASES, agrees, csv_text, every_vector, needs_vectors, submission_text

OLD_PYTHONS = [
    path / "bin" / "python3"
    for name in ("3.7.*", "3.8.*")
    for path in sorted((Path.home() / ".pyenv" / "versions").glob(name))
]
KAGGLE_HOST = """
import importlib.util, io, json, sys
import pandas as pd
spec = importlib.util.spec_from_file_location("metric", sys.argv[1])
metric = importlib.util.module_from_spec(spec)
spec.loader.exec_module(metric)
for case in map(json.loads, sys.stdin):
    frames = [pd.DataFrame(case[name]) for name in ("solution", "submission")]
    if case["as_csv"]:
        frames = [pd.read_csv(io.StringIO(text)) for text in case["as_csv"]]
    try:
        outcome = metric.score(*frames, case["id_column"], **case["arguments"])
    except metric.ParticipantVisibleError:
        outcome = "submission"
    except Exception:
        outcome = "solution"
    print(json.dumps(outcome))
assert "spatialsplit" not in sys.modules
"""
# Kaggle's reader has made numbers of texts, and nothing of NA and null, before the metric is called
CHANGED_BY_GUESSING = {
    "f1-float-row-id": 1.0,
    "col-csv-na": "solution",
    "f1-csv-empty-file": None,
}


def columns_of(case):
    settings = read_settings(case["metric"], case.get("options", {}))
    return settings.task, settings.columns_of(as_table(case["solution"]).names)


# Kaggle


def kaggle_outcomes(metric, folder, as_csv):
    """Score all cases of a metric in one process that knows metric.py and pandas alone."""
    cases = [case for case in CASES if case["metric"] == metric]
    if as_csv:
        cases = [case for case in cases if CHANGED_BY_GUESSING.get(case["id"], 0) is not None]
    else:
        cases = [case for case in cases if "submission" in case]
    path = folder / "metric.py"
    path.write_text(metric_source(TASKS[metric](), columns_of(cases[0])[1]), "utf-8")
    lines = []
    for case in cases:
        _, columns = columns_of(case)
        options = {name: value for name, value in case.get("options", {}).items() if not name.endswith("_col")}
        arguments = {**options, "sol_col": columns.truth[0], "sub_col": columns.prediction[0]}
        texts = [csv_text(case["solution"]), submission_text(case)] if as_csv else None
        sent = {
            "id_column": columns.id,
            "arguments": arguments,
            "as_csv": texts,
            "submission": case.get("submission"),
        }
        lines.append(json.dumps({**sent, "solution": case["solution"]}))
    done = subprocess.run(
        [sys.executable, "-c", KAGGLE_HOST, str(path)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return list(zip(cases, map(json.loads, done.stdout.splitlines()), strict=True))


@needs_vectors
@pytest.mark.parametrize("metric", TASKS)
def test_kaggles_metric_gives_the_known_answers_for_frames(metric, tmp_path):
    outcomes = kaggle_outcomes(metric, tmp_path, as_csv=False)
    assert [case["id"] for case, outcome in outcomes if not agrees(case, outcome)] == []


@needs_vectors
@pytest.mark.parametrize("metric", TASKS)
def test_kaggles_metric_gives_the_known_answers_after_pandas_has_guessed_types(metric, tmp_path):
    outcomes = kaggle_outcomes(metric, tmp_path, as_csv=True)
    wrong = {case["id"]: outcome for case, outcome in outcomes if not agrees(case, outcome)}
    ids = {case["id"] for case, _ in outcomes}
    assert wrong == {name: outcome for name, outcome in CHANGED_BY_GUESSING.items() if name in ids}


@pytest.mark.parametrize("metric", TASKS)
def test_kaggles_metric_keeps_kaggles_rules(metric, tmp_path):
    """Three fixed arguments, all annotated, a short docstring, doctests that pass, pandas alone."""
    task = TASKS[metric]()
    names = next(iter(task.answer_names))
    source = metric_source(task, Columns(task.id_names[0], (), (task.answer_names[names], *task.more_names)))
    tree = ast.parse(source)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "score")
    arguments = function.args.args
    assert [argument.arg for argument in arguments[:3]] == ["solution", "submission", "row_id_column_name"]
    assert all(argument.annotation for argument in arguments)
    assert len(ast.get_docstring(function)) < 8000
    assert len(ast.get_docstring(tree)) < 8000
    (tmp_path / "metric.py").write_text(source, "utf-8")
    done = subprocess.run([sys.executable, "-m", "doctest", "metric.py"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    imported = {name.split(".")[0] for name in re.findall(r"^(?:from|import) (\S+)", source, re.MULTILINE)}
    assert imported <= {*sys.stdlib_module_names, "pandas"}


def test_an_exported_metric_holds_what_it_needs_and_no_other_metric():
    source = metric_source(TASKS["top_k_error"](), Columns("Id", (), ("Predicted",)))
    assert "class TopKError" in source
    assert "FathomNet" not in source
    assert "csv" not in source.split("class SpatialSplitError")[0]


# Codabench


@pytest.fixture(scope="module")
def old_python():
    """Give an old Python where there is one, since Codabench's default image has 3.7; else this one."""
    return str(OLD_PYTHONS[0]) if OLD_PYTHONS else sys.executable


def run_codabench(folder, program, solution, submission, python=sys.executable):
    for name in ("program", "input/ref", "input/res", "output"):
        (folder / name).mkdir(parents=True)
    (folder / "program" / "scoring.py").write_text(program, "utf-8")
    (folder / "input" / "ref" / "solution.csv").write_text(solution, "utf-8")
    (folder / "input" / "res" / "answer.csv").write_bytes(submission.encode())
    done = subprocess.run(
        [python, "-I", str(folder / "program" / "scoring.py"), str(folder / "input"), str(folder / "output")],
        capture_output=True,
        text=True,
    )
    scores = folder / "output" / "scores.json"
    return done, json.loads(scores.read_text()) if scores.exists() else None


@every_vector
def test_codabenchs_program_gives_the_known_answers(case, tmp_path, old_python):
    program = program_source(*columns_of(case))
    done, scores = run_codabench(tmp_path, program, csv_text(case["solution"]), submission_text(case), old_python)
    kind = {1: "submission", 2: "solution"}
    assert agrees(case, scores["score"] if scores else kind[done.returncode])
    assert (scores is None) == (done.returncode != 0)


@pytest.mark.parametrize("metric", TASKS)
def test_codabenchs_program_is_python_3_8_and_needs_the_standard_library_alone(metric):
    task = TASKS[metric]()
    source = program_source(task, Columns("Id", ("Expected",), ("Predicted",)))
    ast.parse(source, feature_version=(3, 8))
    imported = {name.split(".")[0] for name in re.findall(r"^(?:from|import) (\S+)", source, re.MULTILINE)}
    assert imported <= sys.stdlib_module_names


def test_a_fault_of_a_submission_is_told_line_by_line_and_nothing_else(tmp_path):
    program = program_source(TASKS["f1_samples"](), Columns("Id", ("Expected",), ("Predicted",)))
    done, scores = run_codabench(tmp_path, program, "Id,Expected\n1,777\n", "Id,Predicted\n1,5 x 6.0\n")
    assert (done.returncode, done.stdout, scores) == (1, "", None)
    assert [line.split(": ")[1][:5] for line in done.stderr.splitlines()] == ["'x' i", "'6.0'"]


def test_a_fault_of_the_truth_is_told_to_participants_without_any_detail(tmp_path):
    program = program_source(TASKS["f1_samples"](), Columns("Id", ("Expected",), ("Predicted",)))
    done, scores = run_codabench(tmp_path, program, "Id,Expected\n1,777 x\n", "Id,Predicted\n1,5\n")
    assert (done.returncode, scores) == (2, None)
    assert done.stderr == "The scorer failed (SolutionError). Please tell the organizers.\n"


def test_a_submission_with_two_files_is_refused_by_name(tmp_path):
    program = program_source(TASKS["f1_samples"](), Columns("Id", ("Expected",), ("Predicted",)))
    (tmp_path / "input" / "res").mkdir(parents=True)
    (tmp_path / "input" / "res" / "b.csv").write_text("")
    (tmp_path / "input" / "ref").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "input" / "ref" / "solution.csv").write_text("Id,Expected\n1,5\n")
    (tmp_path / "input" / "res" / "a.csv").write_text("")
    (tmp_path / "scoring.py").write_text(program, "utf-8")
    call = [sys.executable, "-I", "scoring.py", "input", "run"]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "exactly one CSV file; found: a.csv, b.csv" in done.stderr
    assert not (tmp_path / "run" / "scores.json").exists()


# a built dataset


def dataset(folder, *, usage=True, solution=None, evaluation=None, sample=None):
    """Write what an export reads of a built dataset."""
    rows = ["1,1 2,Public", "2,3,Private", "3,2 3 9,Private"]
    header = "surveyId,predictions,Usage" if usage else "surveyId,predictions"
    texts = {
        "private/solution.csv": solution
        or "\n".join([header, *(row if usage else row.rsplit(",", 1)[0] for row in rows)]) + "\n",
        "public/sample_submission.csv": sample or "surveyId,predictions\n1,0\n2,0\n3,0\n",
    }
    roles = {"private/solution.csv": "solution", "public/sample_submission.csv": "sample_submission"}
    manifest = {
        "format": 1,
        "name": "virtual-flora",
        "recipe": {
            "evaluation": evaluation or {"metric": "f1_samples", "public_share": 0.3},
            "about": {"title": "Flora: a “test”", "license": "CC-BY-4.0"},
        },
        "outputs": {path: {"role": role, "columns": []} for path, role in roles.items()},
    }
    for path, text in {**texts, "manifest.json": json.dumps(manifest)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def test_kaggles_folder_holds_metric_solution_and_sample(tmp_path):
    launch = export_kaggle(dataset(tmp_path / "data"), tmp_path / "kaggle")
    assert sorted(path.name for path in (tmp_path / "kaggle").iterdir()) == [
        "metric.py",
        "sample_submission.csv",
        "solution.csv",
    ]
    solution = pd.read_csv(tmp_path / "kaggle" / "solution.csv")
    sample = pd.read_csv(tmp_path / "kaggle" / "sample_submission.csv")
    assert list(solution.columns) == [*sample.columns, "Usage"]
    assert [trial.name for trial in launch.trials] == ["sample", "empty", "perfect", "everything"]


def test_kaggles_solution_takes_the_samples_column_names(tmp_path):
    """GeoLifeCLEF 2023 called the truth Expected and the answer Predicted; Kaggle wants one name."""
    sample = "Id,Predicted\n1,0\n2,0\n"
    data = dataset(tmp_path / "data", solution="Id;Expected\n1;1 2\n2;3\n", sample=sample)
    export_kaggle(data, tmp_path / "kaggle")
    assert (tmp_path / "kaggle" / "solution.csv").read_text() == "Id,Predicted\n1,1 2\n2,3\n"


def test_options_of_the_recipe_are_the_exported_metrics_defaults(tmp_path):
    evaluation = {"metric": "f1_samples", "options": {"beta": 2.0, "require_sorted": True}}
    export_kaggle(dataset(tmp_path / "data", evaluation=evaluation), tmp_path / "kaggle")
    source = (tmp_path / "kaggle" / "metric.py").read_text("utf-8")
    assert "require_sorted: bool = True," in source
    assert "beta: float = 2.0," in source


def test_what_build_writes_can_be_exported(built, tmp_path):
    launch = export_kaggle(built.folder, tmp_path / "kaggle")
    export_codabench(built.folder, tmp_path / "bundle.zip")
    assert launch == built.launch
    solution = unpacked(tmp_path / "bundle.zip", tmp_path / "bundle") / "reference_data" / "solution.csv"
    assert solution.read_bytes() == (tmp_path / "kaggle" / "solution.csv").read_bytes()


def unpacked(bundle_path, folder):
    with zipfile.ZipFile(bundle_path) as archive:
        archive.extractall(folder)
    return folder


def test_a_codabench_bundle_scores_each_phase_by_its_own_parts(tmp_path):
    """The first phase must not even compute the private score: hidden columns have been readable."""
    data = dataset(tmp_path / "data")
    export_codabench(data, tmp_path / "bundle.zip")
    folder = unpacked(tmp_path / "bundle.zip", tmp_path / "bundle")
    answers = "surveyId,predictions\n1,1\n2,3\n3,2 3\n"
    expected = score(data / "private" / "solution.csv", as_table_of(answers)).as_dict()
    for reference, parts in (
        ("reference_data_public", ["public"]),
        ("reference_data", ["score", "public", "private"]),
    ):
        (folder / "in" / "res").mkdir(parents=True, exist_ok=True)
        (folder / "in" / "res" / "mine.csv").write_text(answers)
        (folder / reference).rename(folder / "in" / "ref")
        program = folder / "scoring_program" / "scoring.py"
        subprocess.run([sys.executable, "-I", program, folder / "in", folder / "out"], check=True)
        scores = json.loads((folder / "out" / "scores.json").read_text())
        assert scores == {part: expected[part] for part in parts}
        (folder / "in" / "ref").rename(folder / reference)


def as_table_of(text):
    return pd.read_csv(io.StringIO(text), dtype=str)


@pytest.mark.parametrize("usage", [True, False])
def test_every_file_that_competition_yaml_names_is_in_the_bundle(tmp_path, usage):
    export_codabench(dataset(tmp_path / "data", usage=usage), tmp_path / "bundle.zip")
    folder = unpacked(tmp_path / "bundle.zip", tmp_path / "bundle")
    text = (folder / "competition.yaml").read_text("utf-8")
    named = re.findall(r"(?:file|scoring_program|reference_data|starting_kit): ([\w./]+)", text)
    named += re.findall(r'(?:image|terms): "([\w./]+)"', text)
    assert len(named) >= 7
    assert all((folder / name).exists() for name in named)
    assert set(re.findall(r"key: (\w+), index", text)) == ({"public", "score", "private"} if usage else {"score"})
    assert 'title: "Flora: a “test”"' in text


def test_an_error_rate_sorts_its_leaderboard_upwards(tmp_path):
    data = dataset(
        tmp_path / "data",
        solution="surveyId,predictions\n1,5\n2,6\n3,7\n",
        evaluation={"metric": "top_k_error", "options": {"k": 3}},
    )
    export_codabench(data, tmp_path / "bundle.zip")
    text = (unpacked(tmp_path / "bundle.zip", tmp_path / "b") / "competition.yaml").read_text()
    assert "sorting: asc" in text


def test_the_same_dataset_gives_the_same_bundle_byte_for_byte(tmp_path):
    data = dataset(tmp_path / "data")
    for name in ("one.zip", "two.zip"):
        export_codabench(data, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_the_logo_is_a_picture():
    from matplotlib.image import imread

    assert imread(io.BytesIO(logo())).shape == (128, 128, 4)


@pytest.mark.parametrize("export", [export_kaggle, export_codabench])
def test_a_broken_competition_is_not_exported(tmp_path, export):
    data = dataset(tmp_path / "data", sample="surveyId,predictions\n1,0\n2,0\n")
    with pytest.raises(SolutionError, match="The sample submission does not fit"):
        export(data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(ManifestError, match=r"There is no manifest\.json"):
        export_kaggle(tmp_path, tmp_path / "out")
    data = dataset(tmp_path / "data")
    (data / "private" / "solution.csv").unlink()
    with pytest.raises(ManifestError, match="no file of the role solution"):
        export_kaggle(data, tmp_path / "out")


def test_an_export_overwrites_no_folder(tmp_path):
    data = dataset(tmp_path / "data")
    with pytest.raises(OutputError, match="is there already"):
        export_kaggle(data, data)
    assert (data / "manifest.json").exists()


def test_a_parameter_does_not_draw_its_namesake_into_the_file():
    source = bundle("def count(PARTS):\n    return len(PARTS)\n", "doc", postponed_annotations=False)
    assert "PARTS = {" not in source


def test_two_definitions_of_one_name_cannot_meet_in_one_file(monkeypatch):
    from spatialsplit.exports import portable

    twice = (*portable.PORTABLE_MODULES, "spatialsplit.submission.launch")
    monkeypatch.setattr(portable, "PORTABLE_MODULES", twice)
    with pytest.raises(RuntimeError, match="Two portable modules define PARTS"):
        bundle("from x import PARTS\nPARTS, CLOSE\n", "doc", postponed_annotations=True)
