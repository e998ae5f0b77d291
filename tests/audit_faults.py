"""The faults that are planted into the example dataset, each with the check that must find it.

A fault changes the tables; the hashes are mended when they are written, so that only the content is at fault.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

from tests import audit_example
from tests.audit_example import Example, Row, count_species, lonlat, metres

PO, TRAIN, VAL = "public/PO_train.csv", "public/PA_train.csv", "public/PA_val.csv"
BLIND, TEST, SOLUTION = "public/PA_test_blind.csv", "private/PA_test.csv", "private/solution.csv"
SAMPLE, QUADRATS, SPECIES = "public/sample_submission.csv", "public/quadrats.csv", "public/species.csv"


def move(made: Example, survey: object, place: tuple[float, float]) -> None:
    """Put a survey somewhere else, in every table that has it."""
    for name in (TRAIN, VAL, TEST, BLIND):
        for row in made.rows(name):
            if row["surveyId"] == survey:
                row["lon"], row["lat"] = place


def append_po(made: Example, **changed: object) -> Row:
    """Add a presence-only record to the published ones, with the counts mended."""
    row = {**made.rows(PO)[0], "gbifID": 999_999, **changed}
    made.rows(PO).append(row)
    for step in made.manifest["steps"]:
        if step["step"] in ("read_po", "filter_po"):
            step["in"] += 1
            step["kept"] += 1
    count_species(made)
    return row


def share_a_quadrat(made: Example) -> None:
    test = made.rows(BLIND)[0]
    move(made, made.rows(TRAIN)[0]["surveyId"], (round(test["lon"] + 0.005, 6), test["lat"]))


def bring_po_near(made: Example) -> None:
    test = made.rows(BLIND)[0]
    append_po(made, lon=test["lon"], lat=round(test["lat"] + 0.002, 6))


def bring_po_to_the_radius(made: Example) -> None:
    test = made.rows(BLIND)[0]
    row = append_po(made, lon=test["lon"], lat=round(test["lat"] - 0.003, 6))
    made.manifest["recipe"]["po_filter"]["radius_m"] = metres(row, test)


def put_a_survey_in_two_subsets(made: Example) -> None:
    held = made.rows(TEST)[0]["surveyId"]
    made.rows(TRAIN).extend(dict(row) for row in made.rows(TEST) if row["surveyId"] == held)


def number_a_test_survey_anew_in_train(made: Example) -> None:
    held = made.rows(TEST)[0]["surveyId"]
    made.rows(TRAIN).extend({**row, "surveyId": 9999} for row in made.rows(TEST) if row["surveyId"] == held)


def give_the_test_a_species_of_its_own(made: Example) -> None:
    made.rows(TEST)[0]["speciesId"] = 777
    solve_again(made)


def solve_again(made: Example) -> None:
    """Write the solution anew from PA_test."""
    for row in made.rows(SOLUTION):
        species = {int(r["speciesId"]) for r in made.rows(TEST) if r["surveyId"] == row["surveyId"]}
        row["predictions"] = " ".join(map(str, sorted(species)))


def empty_a_test_survey(made: Example) -> None:
    held = made.rows(TEST)[0]["surveyId"]
    made.rows(TEST)[:] = [row for row in made.rows(TEST) if row["surveyId"] != held]
    solve_again(made)


def label_the_blinded_table(made: Example) -> None:
    made.add_column(BLIND, "speciesId", [row["species"][0] for row in made.rows(BLIND)])


def add_a_column_off_the_list(made: Example) -> None:
    made.add_column(BLIND, "habitat", ["wood"] * len(made.rows(BLIND)))


def code_the_label_as_a_number(made: Example) -> None:
    made.add_column(BLIND, "areaInM2", [100 + 3 * min(row["species"]) for row in made.rows(BLIND)])


def code_the_label_as_text(made: Example) -> None:
    made.add_column(BLIND, "country", [f"C{(min(row['species']) * 7) % 40}" for row in made.rows(BLIND)])


def write_the_label_into_an_id(made: Example) -> None:
    made.add_column(BLIND, "timeSerieID", ["-".join(map(str, row["species"])) for row in made.rows(BLIND)])


def publish_the_solution(made: Example) -> None:
    rows = made.rows(SOLUTION)
    text = "".join(f"{row['surveyId']};{row['predictions']}\n" for row in rows)
    made.further["public/notes.csv"] = f"plot;remark\n{text}".encode()


def publish_the_solution_in_the_readme(made: Example) -> None:
    rows = "".join(f"| {row['surveyId']} | {row['predictions']} |\n" for row in made.rows(SOLUTION))
    made.further["public/README.md"] = f"# Example\n\n| survey | note |\n|---|---|\n{rows}".encode()


def publish_the_solution_in_a_description(made: Example) -> None:
    """Use the file that may be added later, and that no checksum covers."""
    told = {str(row["surveyId"]): [int(name) for name in row["predictions"].split()] for row in made.rows(SOLUTION)}
    made.further["public/croissant.json"] = json.dumps({"name": "example", "notes": told}, indent=2).encode()


def publish_the_solution_in_columns_of_json(made: Example) -> None:
    rows = made.rows(SOLUTION)
    table = {"plot": [row["surveyId"] for row in rows], "note": [row["predictions"] for row in rows]}
    made.further["public/notes.json"] = json.dumps(table, indent=2).encode()


def publish_the_solution_under_another_ending(made: Example) -> None:
    text = "".join(f"{row['predictions']}: {row['surveyId']}\n" for row in made.rows(SOLUTION))
    made.further["public/notes.dat"] = gzip.compress(text.encode())


def publish_the_test_by_its_places(made: Example) -> None:
    rows = "".join(f"{row['lon']},{row['lat']},{row['speciesId']}\n" for row in made.rows(TEST))
    made.further["public/notes.csv"] = f"lon,lat,note\n{rows}".encode()


def publish_the_test_by_its_keys(made: Example) -> None:
    rows = "".join(f"{row['patchID']},{row['dayOfYear']},{row['speciesId']}\n" for row in made.rows(TEST))
    made.further["public/notes.csv"] = f"patchID,dayOfYear,note\n{rows}".encode()


def publish_the_solution_a_column_a_species(made: Example) -> None:
    species = sorted({name for row in made.rows(SOLUTION) for name in row["predictions"].split()}, key=int)
    lines = [["plot", *species]]
    for row in made.rows(SOLUTION):
        held = set(row["predictions"].split())
        lines.append([str(row["surveyId"]), *("1" if name in held else "0" for name in species)])
    made.further["public/notes.csv"] = "".join(f"{','.join(line)}\n" for line in lines).encode()


def count_species_in_the_quadrats(made: Example) -> None:
    made.add_column(QUADRATS, "richness", [7] * len(made.rows(QUADRATS)))


def order_the_blinded_table_by_its_label(made: Example) -> None:
    made.rows(BLIND).sort(key=lambda row: min(row["species"]))


def call_the_private_surveys_otherwise(made: Example) -> None:
    for row in made.rows(SOLUTION):
        row["Usage"] = row["Usage"].replace("Private", "Ignored")


def solve_the_sample(made: Example) -> None:
    for row, solved in zip(made.rows(SAMPLE), made.rows(SOLUTION), strict=True):
        row["predictions"] = solved["predictions"]


def count_the_test_in_species(made: Example) -> None:
    made.add_column(SPECIES, "n_pa_test", [0] * len(made.rows(SPECIES)))


def repeat_a_test_record_in_po(made: Example) -> None:
    test = made.rows(TEST)[0]
    append_po(made, lon=test["lon"], lat=test["lat"], speciesId=test["speciesId"], year=test["year"])


def draw_another_quadrat(made: Example) -> None:
    """Move a whole quadrat from train to val, in every file that says so."""
    taken = next(row for row in made.rows(QUADRATS) if row["subset"] == "train" and not row["n_empty"])
    taken["subset"] = "val"
    moved = [row for row in made.rows(TRAIN) if row["quadrat"] == taken["quadratId"]]
    made.rows(TRAIN)[:] = [row for row in made.rows(TRAIN) if row not in moved]
    made.rows(VAL).extend(moved)
    count_species(made)


def change_a_number(made: Example) -> None:
    made.rows(QUADRATS)[3]["test_number"] = "0" * 16


def mix_usage(made: Example) -> None:
    by_quadrat: dict[str, list[Row]] = {}
    for blind, solved in zip(made.rows(BLIND), made.rows(SOLUTION), strict=True):
        by_quadrat.setdefault(blind["quadrat"], []).append(solved)
    pair = next(rows for rows in by_quadrat.values() if len(rows) > 1)
    pair[0]["Usage"], pair[1]["Usage"] = "Public", "Private"


def lose_a_record(made: Example) -> None:
    del made.rows(PO)[5]
    count_species(made)


def lose_a_training_row(made: Example) -> None:
    del made.rows(TRAIN)[5]
    count_species(made)


def miscount_a_species(made: Example) -> None:
    made.rows(SPECIES)[4]["n_pa_train"] += 1


def repeat_an_id(made: Example) -> None:
    for name in (BLIND, SOLUTION, SAMPLE):
        made.rows(name).append(dict(made.rows(name)[0]))


def lose_an_id_of_the_sample(made: Example) -> None:
    del made.rows(SAMPLE)[0]


def step_over_an_edge(made: Example) -> None:
    """Put a survey 1 m beyond the edge that it stood 1 m before."""
    made_row = near_an_edge(made)
    column, row = audit_example.place_of(made_row["quadrat"])
    move(made, made_row["surveyId"], lonlat(column, row, 5001, 2500))


def near_an_edge(made: Example) -> Row:
    """Choose a training survey with a neighbour of another subset, and put it 1 m before that edge."""
    subset = {row["quadratId"]: row["subset"] for row in made.rows(QUADRATS)}
    for survey in made.rows(TRAIN):
        column, row = audit_example.place_of(survey["quadrat"])
        if subset.get(audit_example.label_of(column + 1, row), "train") != "train":
            move(made, survey["surveyId"], lonlat(column, row, 4999, 2500))
            return survey
    raise AssertionError("no such survey")


FAULTS: dict[Callable[[Example], None], str] = {
    share_a_quadrat: "quadrats_in_one_subset",
    step_over_an_edge: "quadrats_in_one_subset",
    bring_po_near: "po_outside_radius",
    bring_po_to_the_radius: "po_outside_radius",
    put_a_survey_in_two_subsets: "surveys_in_one_subset",
    number_a_test_survey_anew_in_train: "surveys_in_one_subset",
    give_the_test_a_species_of_its_own: "test_species_known",
    empty_a_test_survey: "no_empty_test_survey",
    label_the_blinded_table: "no_label_in_blind",
    add_a_column_off_the_list: "no_label_in_blind",
    code_the_label_as_a_number: "no_label_in_blind",
    code_the_label_as_text: "no_label_in_blind",
    write_the_label_into_an_id: "no_label_in_blind",
    publish_the_solution: "nothing_private_in_public",
    publish_the_solution_in_the_readme: "nothing_private_in_public",
    publish_the_solution_in_a_description: "nothing_private_in_public",
    publish_the_solution_in_columns_of_json: "nothing_private_in_public",
    publish_the_solution_under_another_ending: "nothing_private_in_public",
    publish_the_test_by_its_places: "nothing_private_in_public",
    publish_the_test_by_its_keys: "nothing_private_in_public",
    publish_the_solution_a_column_a_species: "nothing_private_in_public",
    count_species_in_the_quadrats: "nothing_private_in_public",
    order_the_blinded_table_by_its_label: "no_label_in_blind",
    call_the_private_surveys_otherwise: "draw_rederives",
    solve_the_sample: "nothing_private_in_public",
    count_the_test_in_species: "nothing_private_in_public",
    repeat_a_test_record_in_po: "no_duplicate_across_subsets",
    draw_another_quadrat: "draw_rederives",
    change_a_number: "draw_rederives",
    mix_usage: "usage_shares_no_quadrat",
    lose_a_record: "counts_add_up",
    lose_a_training_row: "counts_add_up",
    miscount_a_species: "counts_add_up",
    repeat_an_id: "ids_agree",
    lose_an_id_of_the_sample: "ids_agree",
}
