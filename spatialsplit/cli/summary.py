"""What `build` prints at its end: tables in Markdown, aligned, to be read here and pasted into a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spatialsplit.build import BuildReport


def summary(report: BuildReport) -> str:
    """Say what came out and where."""
    parts = [
        f"Published {report.folder}",
        markdown(["file", "rows", "bytes"], _files(report.manifest)),
        markdown(["step", "in", "kept", "dropped", "why"], _steps(report.manifest)),
        markdown(["subset", "surveys", "quadrats", "species", "nearest training"], _subsets(report)),
        "\n".join(_draw(report.manifest)),
        "\n".join(["Scores of submissions of known quality:", *(f"  {line}" for line in report.launch.lines())]),
        "\n".join(_end(report)),
    ]
    return "\n\n".join(part for part in parts if part)


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table in Markdown; the first and any last column of words stand left, numbers right.

    Examples
    --------
    >>> print(markdown(["subset", "surveys"], [["train", 3821], ["test", None]]))
    | subset | surveys |
    |:-------|--------:|
    | train  |   3,821 |
    | test   |       – |
    """
    cells = [[_cell(value) for value in row] for row in rows]
    left = [i == 0 or any(isinstance(row[i], str) for row in rows) for i in range(len(header))]
    widths = [max(len(text) for text in column) for column in zip(header, *cells, strict=True)]
    marks = [
        f":{'-' * (width + 1)}" if is_left else f"{'-' * (width + 1)}:"
        for width, is_left in zip(widths, left, strict=True)
    ]
    lines = [_line(header, widths, left), f"|{'|'.join(marks)}|", *(_line(row, widths, left) for row in cells)]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    parts = [
        f"{text:<{width}}" if is_left else f"{text:>{width}}"
        for text, width, is_left in zip(cells, widths, left, strict=True)
    ]
    return f"| {' | '.join(parts)} |"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def _files(manifest: dict[str, Any]) -> list[list[object]]:
    return [[name, entry.get("rows"), entry["bytes"]] for name, entry in manifest["outputs"].items()]


def _steps(manifest: dict[str, Any]) -> list[list[object]]:
    return [
        [
            step["step"],
            step["in"],
            step["kept"],
            step["in"] - step["kept"],
            ", ".join(f"{reason} {count:,}" for reason, count in step["dropped"].items()),
        ]
        for step in manifest["steps"]
    ]


def _subsets(report: BuildReport) -> list[list[object]]:
    """Give a row a subset, and one of the presence-only records."""
    facts = report.audit.facts
    surveys, quadrats, species = (facts.get(name) or {} for name in ("surveys", "quadrats", "species"))
    near = facts.get("nearest_train_m") or {}
    rows: list[list[object]] = [
        [name, count, quadrats.get(name), species.get(name), _near(near, name == facts.get("nearest_train_from"))]
        for name, count in surveys.items()
    ]
    if facts.get("po_records") is not None:
        rows.append(["presence-only (records)", facts["po_records"], None, facts.get("po_species"), "–"])
    return rows


def _near(near: dict[str, float], is_held_out: bool) -> str:
    return f"median {near['median']:,.0f} m, least {near['min']:,.0f} m" if is_held_out and near else "–"


def _draw(manifest: dict[str, Any]) -> list[str]:
    draw = manifest["draw"]
    lines = ["Drawn, of the quadrats and surveys with a species that were still free:"]
    lines += [
        f"  {holdout['name']}: {holdout['drawn']:,} of {holdout['free']:,} quadrats, {holdout['surveys_drawn']:,} of "
        f"{holdout['surveys_free']:,} surveys"
        for holdout in draw["holdouts"]
    ]
    if draw["attempt"] is not None:
        tried = manifest["recipe"]["draw"]["attempts"]
        lines.append(f"  kept attempt {draw['attempt']} of {tried}, imbalance {draw['objective']:g}")
    return lines


def _end(report: BuildReport) -> list[str]:
    checks = report.audit.checks_as_dicts()
    passed = sum(check["passed"] is True for check in checks)
    skipped = [check["name"] for check in checks if check["passed"] is None]
    not_run = f"; not run: {', '.join(skipped)}" if skipped else ""
    page = report.folder / "report.html"
    return [
        f"Audit: {passed} of {len(checks)} checks passed{not_run}.",
        f"Took:  {', '.join(f'{name} {seconds:.1f} s' for name, seconds in report.seconds.items())}.",
        *([f"Look:  {page}"] if page.is_file() else []),
        f"Next:  spatialsplit audit {report.folder}",
    ]
