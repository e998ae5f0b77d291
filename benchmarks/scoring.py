"""F1 of 20,000 surveys among 11,000 species, read, checked and scored as a whole process.

The bar: at most 1 s and 100 MB; 200,000 surveys in at most 10 s. Run `python benchmarks/scoring.py [ROUNDS]`.
Ours and scikit-learn read the same two CSV files, each in its own process, alternating; scores must agree.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

N_SPECIES = 11_000
OURS_CODE = "import sys; sys.argv[0] = 'spatialsplit'; from spatialsplit.cli import main; main()"
THEIRS_CODE = """
import json, sys
import pandas as pd
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer
truth, answer = (pd.read_csv(path, index_col="surveyId")["predictions"].str.split() for path in sys.argv[1:])
answer = answer.reindex(truth.index)
binarizer = MultiLabelBinarizer(sparse_output=True).fit(list(truth) + list(answer))
score = f1_score(binarizer.transform(truth), binarizer.transform(answer), average="samples")
print(json.dumps({"score": score}))
"""


def write_files(folder, n_surveys):
    """Write a solution and a submission with about 20 labels a survey, from one seed."""
    draw = random.Random(1)
    species = range(N_SPECIES)
    lines = {"solution.csv": ["surveyId,predictions"], "submission.csv": ["surveyId,predictions"]}
    for survey in range(n_surveys):
        truth = draw.sample(species, draw.randint(12, 28))
        answer = {label for label in truth if draw.random() < 0.6}.union(draw.sample(species, 8))
        for name, labels in (("solution.csv", truth), ("submission.csv", answer)):
            lines[name].append(f"{survey},{' '.join(map(str, sorted(labels)))}")
    for name, texts in lines.items():
        (folder / name).write_text("\n".join(texts) + "\n")


def run(command):
    """Run a process and give its output, seconds and peak memory in MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:3]} failed")
    return json.loads(output)["score"], time.perf_counter() - begin, usage.ru_maxrss / 1024


def compare(folder, rounds):
    """Run both sides in turn and print a table of medians."""
    files = [str(folder / "solution.csv"), str(folder / "submission.csv")]
    score = ["score", "--json", "--metric", "f1_samples", "--solution", files[0], "--submission", files[1]]
    commands = {
        "spatialsplit score (with interval)": [sys.executable, "-c", OURS_CODE, *score],
        "spatialsplit score --resamples 0": [sys.executable, "-c", OURS_CODE, *score, "--resamples", "0"],
        "pandas + scikit-learn f1_score": [sys.executable, "-c", THEIRS_CODE, *files],
    }
    results = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            results[name].append(run(command))
    scores = {round(value, 12) for runs in results.values() for value, _, _ in runs}
    if len(scores) != 1:
        raise SystemExit(f"the scores differ: {scores}")
    theirs = statistics.median(seconds for _, seconds, _ in results["pandas + scikit-learn f1_score"])
    for name, runs in results.items():
        seconds = statistics.median(seconds for _, seconds, _ in runs)
        memory = max(megabytes for _, _, megabytes in runs)
        print(f"{name:<36} {seconds:>7.2f} s {theirs / seconds:>6.1f} x {memory:>7.0f} MB")
    print(f"equal scores: {scores.pop():.12f}")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for n_surveys, repeats in ((20_000, rounds), (200_000, min(rounds, 2))):
        print(f"\n{n_surveys:,} surveys, median of {repeats} alternating runs (x: faster than scikit-learn)")
        with tempfile.TemporaryDirectory() as folder:
            write_files(Path(folder), n_surveys)
            compare(Path(folder), repeats)


if __name__ == "__main__":
    main()
