"""Recipe → folder of files + manifest: the order of the steps.

Each step's own rules stand in the module that it calls; here is only what comes after what, what is counted, and that
nothing is published
before all of it is written and audited.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from spatialsplit.audit import AuditReport
from spatialsplit.build import progress
from spatialsplit.build.dropped_rows import dropped_columns, source_lines
from spatialsplit.build.entries import draw_entry, grid_entry, input_entries, pa_steps, run_entry
from spatialsplit.build.inputs import OpenInputs, dropped_rows, open_inputs, out_of_place, paths_outside
from spatialsplit.build.outputs import Outputs, write_survey_tables
from spatialsplit.build.presence_absence import Vocabulary, close_vocabulary, count_labels
from spatialsplit.build.presence_only import PoOutputs, PoResult, PresenceOnly
from spatialsplit.build.species import Beside, SpeciesLimits
from spatialsplit.engine import Engine, Threads
from spatialsplit.errors import RecipeError, SpatialSplitError, TableError
from spatialsplit.manifest import FORMAT, MANIFEST, is_inside, manifest_text, write_sums
from spatialsplit.occurrences.presence_absence import SET_ASIDE
from spatialsplit.po_filter import DrawnQuadrats, HoldoutSites, PoFilter
from spatialsplit.publishing import new_folder
from spatialsplit.recipe import Recipe, read_recipe
from spatialsplit.recipe.checks import remarks
from spatialsplit.report import NAME as REPORT
from spatialsplit.report import write_report_of
from spatialsplit.report.source import Source, audited
from spatialsplit.split import Assignment, Split, SplitRules, split_surveys
from spatialsplit.submission import Launch, check_launch
from spatialsplit.tables.assignments import read_assignment
from spatialsplit.tables.files import BATCH_BYTES

T = TypeVar("T")


class AuditFailed(SpatialSplitError):
    """A build that did not pass its own audit and was not published."""


@dataclass(frozen=True)
class BuildReport:
    """What a build did.

    Attributes
    ----------
    folder : path
        The published dataset.
    manifest : dict
    audit : AuditReport
    launch : Launch
        Scores of the sample, an empty, the perfect and an all-naming submission.
    seconds : dict of str to float
        Wall time of each part.
    problems : list of str
        What went wrong without harm to the dataset: its report could not be made.
    """

    folder: Path
    manifest: dict[str, Any]
    audit: AuditReport
    launch: Launch
    seconds: dict[str, float]
    problems: list[str] = field(default_factory=list)


@dataclass
class _Clock:
    """Wall time of each part of a build."""

    seconds: dict[str, float] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)

    def lap(self, name: str) -> None:
        """Note the seconds since the last lap under a name."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._started, 3)
        self._started = now


@dataclass(frozen=True)
class BuildOptions:
    """How a build runs; none of it shows in the dataset.

    Parameters
    ----------
    force : bool
        Replace a dataset that is there already.
    threads : int, optional
        As many as there are processors, unless said.
    batch_bytes : int
        How much of a table is read at once.
    on_step : callable, optional
        Told the name of each part as it begins.
    on_done : callable, optional
        Told of each part that is done its name, its seconds, and what it counted, in words.
    on_progress : callable, optional
        Told how many presence-only rows are done, and which fraction of the work that is.
    inputs : path, optional
        A folder that holds the inputs, where they are not where the recipe says.
    engine : Engine, optional
        Where the presence-only records are worked on: in threads of this process, unless said.
    report : bool
        Write `report.html` into the folder.
    """

    force: bool = False
    threads: int | None = None
    batch_bytes: int = BATCH_BYTES
    on_step: Callable[[str], None] = lambda name: None
    on_done: Callable[[str, float, str], None] = lambda name, seconds, counted: None
    on_progress: Callable[[int, float], None] = lambda rows, fraction: None
    inputs: Path | None = None
    engine: Engine | None = None
    report: bool = True


def build_dataset(recipe_path: Path | str, out: Path | str, options: BuildOptions | None = None) -> BuildReport:
    """Build a dataset from a recipe and publish it.

    Choose it when a recipe says all; the steps are also there one by one.

    Parameters
    ----------
    recipe_path : path
        Its inputs count from its folder.
    out : path
        The folder to make. It appears when all is written and the audit has passed, and not before.
    options : BuildOptions, optional

    Returns
    -------
    BuildReport

    Raises
    ------
    RecipeError, DataError
        A line a fault, of the recipe or of the inputs.
    AuditFailed
        The finished dataset breaks a promise; it is not published.
    OutputError
        The folder exists, or cannot be written.
    """
    recipe_path, out = Path(recipe_path), Path(out)
    options = options or BuildOptions()
    recipe = read_recipe(recipe_path)
    seed = recipe.secret_seed()
    with new_folder(out, force=options.force) as folder:
        report = _Build(recipe, recipe_path, seed, folder, options).run()
    return BuildReport(out, report.manifest, report.audit, report.launch, report.seconds, report.problems)


class _Build:
    def __init__(self, recipe: Recipe, recipe_path: Path, seed: str, folder: Path, options: BuildOptions):
        self.recipe, self.recipe_path, self.seed, self.folder, self.options = recipe, recipe_path, seed, folder, options
        self.warnings: list[str] = []
        self.problems: list[str] = []
        self.clock = _Clock()
        self.out = Outputs(folder, recipe)

    def run(self) -> BuildReport:
        """Make all files in their fixed order, audit them, and say what was made."""
        manifest, launch = self._make()
        pa.default_memory_pool().release_unused()
        source = self._step("audit", lambda: self._audit(manifest), lambda source: progress.audited(source.audit))
        if self.options.report:
            self._step("report", lambda: self._report(source), progress.reported)
        (self.folder / "run.json").write_text(json.dumps(run_entry(self.clock.seconds), indent=1) + "\n", "utf-8")
        return BuildReport(self.folder, manifest, source.audit, launch, self.clock.seconds, self.problems)

    def _make(self) -> tuple[dict[str, Any], Launch]:
        """Write all tables; what they were made from is let go of before the audit begins."""
        inputs = self._step("read", self._read, progress.read)
        split = self._step("draw", lambda: self._split(inputs), progress.drawn)
        po = self._step("filter", lambda: self._filter(inputs, split), progress.filtered)
        vocabulary = close_vocabulary(split, list(po.species))
        self._step("write", lambda: self._write(inputs, split, po, vocabulary), lambda done: progress.written(self.out))
        launch = self._rehearse()
        inputs.check_unchanged()
        return self._manifest(inputs, split, po, vocabulary), launch

    def _step(self, name: str, work: Callable[[], T], counted: Callable[[T], str]) -> T:
        self.options.on_step(name)
        result = work()
        self.clock.lap(name)
        self.options.on_done(name, self.clock.seconds[name], counted(result))
        return result

    def _read(self) -> OpenInputs:
        return open_inputs(self.recipe, self._find, batch_bytes=self.options.batch_bytes, threads=self.options.threads)

    def _find(self, name: str) -> Path:
        """Find an input: beside the recipe, or in the folder that was named, with or without the recipe's folders."""
        if self.options.inputs is None:
            return self.recipe_path.parent / name
        as_written = self.options.inputs / name
        return as_written if is_inside(name) and as_written.exists() else self.options.inputs / Path(name).name

    def _split(self, inputs: OpenInputs) -> Split:
        recipe = self.recipe
        rules = SplitRules(
            recipe.grid(),
            recipe.draw_rules(),
            self.seed,
            recipe.draw.strata,
            recipe.draw.attempts,
            self._assignment(),
            recipe.draw.rare_quadrats,
        )
        lon, lat = inputs.surveys.lon, inputs.surveys.lat
        self.warnings += recipe.grid().warnings(recipe.grid().count_outside(lon, lat), len(lon))
        self.warnings += out_of_place(recipe.inputs.pa.crs, lon, lat)
        return split_surveys(inputs.surveys, rules)

    def _assignment(self) -> Assignment | None:
        draw = self.recipe.draw
        name = draw.quadrats or draw.extend
        if name is None:
            return None
        return Assignment(read_assignment(self._find(name)), draw.quadrats is not None, name)

    def _filter(self, inputs: OpenInputs, split: Split) -> PoResult:
        if inputs.po is None:
            return self._without_po(split)
        assert self.recipe.inputs.po is not None  # there is a reader
        rules = self.recipe.po_filter
        po_filter, ids = _filter_of(self.recipe, split)
        outputs = PoOutputs(
            self.out.paths("po_train"),
            self.out.paths("po_removed"),
            self.out.paths("dropped_po"),
            self.out.form("po_train").separator,
            self.folder,
        )
        engine = self.options.engine or Threads(self.options.threads)
        limits = SpeciesLimits(rules.min_records, rules.max_records)
        result = PresenceOnly(inputs.po, po_filter, ids, self.options.on_progress).stream(
            outputs, limits, _beside(split, self.seed), engine
        )
        problems = inputs.po.problems(self.recipe.inputs.po.drop)
        if problems:
            raise TableError(problems)
        for role, written in result.written.items():
            self.out.add(role, written)
        return result

    def _without_po(self, split: Split) -> PoResult:
        names = _beside(split, self.seed).names
        return PoResult(numbers={name: number for number, name in enumerate(sorted(names))})

    def _write(self, inputs: OpenInputs, split: Split, po: PoResult, vocabulary: Vocabulary) -> None:
        write_survey_tables(self.out, split, vocabulary, po, self.seed)
        parts = dropped_rows(inputs.pa, inputs.surveys)
        if parts:
            with self.out.writer("dropped_pa", dropped_columns(inputs.pa.reader)) as writer:
                for reasons, places, cells in parts:
                    lines = source_lines(inputs.pa.reader, places)
                    writer.write([*self.out.text_column(reasons), *lines, *cells])
            self.out.add("dropped_pa", writer.written)
        shutil.copyfile(self.recipe_path, self.folder / "recipe.toml")

    def _rehearse(self) -> Launch:
        evaluation = self.recipe.evaluation
        solution, sample = (self.out.paths(role)[0] for role in ("solution", "sample_submission"))
        return check_launch(solution, sample, evaluation.metric, **evaluation.options)

    def _manifest(self, inputs: OpenInputs, split: Split, po: PoResult, vocabulary: Vocabulary) -> dict[str, Any]:
        self.warnings += [*remarks(self.recipe), *paths_outside(self.recipe)]
        for reader in (inputs.pa.reader, inputs.po):
            self.warnings += reader.warnings() if reader is not None else []
        if split.surveys.varying:
            self.warnings.append(
                f"Columns that vary inside surveys and so are not published for a survey as a whole: "
                f"{', '.join(map(repr, split.surveys.varying))}."
            )
        for theirs, ours in SET_ASIDE.items():
            if ours in inputs.pa.attributes.column_names:
                self.warnings.append(
                    f"The column '{theirs}' of {inputs.pa.reader.source.name} tells of an earlier split; it is "
                    f"called '{ours}' here."
                )
        if self.recipe.evaluation.public_share is not None and not self.recipe.sealed:
            self.warnings.append(
                "The seed is open, so anybody can derive which test surveys count for the private leaderboard. "
                "Use seed_env to keep it secret."
            )
        steps = [*pa_steps(inputs, split), *(po.steps() if inputs.po is not None else []), *vocabulary.steps()]
        return {
            "format": FORMAT,
            "spatialsplit": version("spatialsplit"),
            "name": self.recipe.name,
            "recipe": self.recipe.resolved(),
            "recipe_sha256": self.recipe.sha256(),
            "seed": self.recipe.seed_entry(),
            "layout": self.recipe.output.layout,
            "inputs": input_entries(inputs),
            "grid": grid_entry(split),
            "draw": draw_entry(self.recipe, split, self.seed),
            "steps": [step.entry() for step in steps],
            "warnings": self.warnings,
            "outputs": self.out.entries(),
            "audit": [],
        }

    def _audit(self, manifest: dict[str, Any]) -> Source:
        """Write the manifest, audit the folder as a stranger would, and write the outcome into the manifest."""
        self._seal(manifest)
        source = audited(self.folder, seed=self.seed if self.recipe.sealed else None)
        if not source.audit.passed:
            failed = [check for check in source.audit.checks_as_dicts() if check["passed"] is False]
            raise AuditFailed(
                f"The audit failed and nothing was published: {c['name']}: {c['value']} ({c['detail']})" for c in failed
            )
        if self.recipe.sealed:
            del source
            source = audited(self.folder)  # what the manifest and the report say must not need the secret
        manifest["audit"] = source.audit.checks_as_dicts()
        self._seal(manifest)
        return source

    def _report(self, source: Source) -> bool:
        """Write the report; a picture that cannot be drawn is no reason to lose a dataset that has passed its audit."""
        try:
            write_report_of(replace(source, run=run_entry(self.clock.seconds)), self.folder / REPORT)
        except Exception as error:
            (self.folder / REPORT).unlink(missing_ok=True)
            self.problems.append(
                f"The dataset is whole, but {REPORT} could not be made ({type(error).__name__}: {error})."
            )
        return not self.problems

    def _seal(self, manifest: dict[str, Any]) -> None:
        (self.folder / MANIFEST).write_text(manifest_text(manifest), "utf-8", newline="\n")
        write_sums(self.folder, self.out.known_sums())


def _beside(split: Split, seed: str) -> Beside:
    """Gather what the presence-absence data says about species."""
    by_subset = {subset: count_labels(split, subset) for subset in ("train", "val")}
    names = {str(species) for counts in by_subset.values() for species in counts if isinstance(species, str)}
    return Beside(by_subset["train"], names, seed)


def _filter_of(recipe: Recipe, split: Split) -> tuple[PoFilter, list[Any]]:
    """Make the filter around the surveys of the holdouts, and give the numbers of those surveys."""
    surveys, holdouts, ids = split.surveys, [], []
    for name in recipe.po_filter.around:
        positions = split.in_subset(name)
        holdouts.append(HoldoutSites(f"near_{name}", surveys.lon[positions], surveys.lat[positions]))
        ids.append(surveys.ids[positions])
    quadrats = None
    if recipe.po_filter.whole_quadrats:
        if not recipe.po_filter.around or recipe.po_filter.around[0] != "test":
            raise RecipeError(
                'whole_quadrats needs around = ["test"] or ["test", "val"] under [po_filter]: it removes what '
                "lies in test quadrats."
            )
        drawn = [
            label
            for label, subset in zip(split.quadrats.labels, split.quadrats.subsets, strict=True)
            if subset == "test"
        ]
        quadrats = DrawnQuadrats("in_test_quadrat", split.rules.grid, frozenset(drawn))
    return PoFilter(holdouts, recipe.po_filter.radius_m, quadrats), ids
