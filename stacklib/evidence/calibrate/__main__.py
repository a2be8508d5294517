"""``python -m stacklib.evidence.calibrate``: refit, cross-validate, write."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from stacklib import sweep
from stacklib.hardware.factors import efficiency_table

from . import bands, files, folds
from .fit import fit
from .problem import Problem
from .public import family_problem, public_problem, rig_misses, unseen_misses


def problem_of(family: str) -> Problem:
    """The fit of one family's own factors, or of all where none is named."""
    return family_problem(family) if family else public_problem()


def held_out(
    by: str, group: str, full: Mapping[str, float], family: str
) -> tuple[str, dict[str, float]]:
    """One fold of the cross-validation of the public rows."""
    return by, folds.held_out(problem_of(family), by, group, full)


def draw(number: int, full: Mapping[str, float], family: str) -> dict[str, float]:
    """One bootstrap replicate of the public rows."""
    return folds.draw(problem_of(family), number, full)


def cross_validate(
    workers: int, full: Mapping[str, float], family: str
) -> dict[str, dict[str, float]]:
    """Held-out predictions of every public row, by column of their file and id."""
    problem = problem_of(family)
    cases = [
        {"by": by, "group": group, "full": dict(full), "family": family}
        for by in folds.FOLDS
        for group in folds.groups(problem, by)
    ]
    found: dict[str, dict[str, float]] = {column: {} for column in files.HELD_OUT[1:]}
    for by, predicted in sweep.run(
        held_out, cases, workers=workers, what="left out in turn"
    ):
        if by in folds.BY:
            found[f"by_{by}"].update(predicted)
        for id, value in predicted.items():
            found["least"][id] = min(value, found["least"].get(id, value))
            found["most"][id] = max(value, found["most"].get(id, value))
    return found


def in_sample(problem: Problem, values: Mapping[str, float]) -> dict[str, folds.Errors]:
    """Errors on the rows the factors were fitted to, by family key."""
    with problem.override(values):
        predicted = {case.id: case.predict() for case in problem.cases}
    return folds.errors(problem.cases, predicted)


def calibrate(workers: int, quick: bool, family: str = "") -> dict[str, str]:
    """All that a calibration writes: file name to text.

    - ``family``: whose own factors alone are fitted; what the files say of others stays
    """
    problem = problem_of(family)
    if lost := problem.unreached():
        raise ValueError(
            f"{', '.join(lost)}: only families with factors of their own read these; "
            "give each one of those families, or a fixed value"
        )
    values = fit(problem)
    table: dict[str, dict[str, Any]] = efficiency_table()
    draws = []
    if not quick:
        numbers = [
            {"number": n, "full": values, "family": family} for n in range(folds.DRAWS)
        ]
        draws = sweep.run(draw, numbers, workers=workers, what="bootstrap")
    spans = folds.spans(values, draws)
    path = files.data_path("efficiency.toml")
    head = files.head_of(path.read_text(encoding="utf-8"))
    rows = files.efficiency_rows(table, problem, values, spans)
    written = {"efficiency.toml": files.tables(rows, head)}
    if not quick:
        predicted = cross_validate(workers, values, family)
        by = {
            way: folds.errors(problem.cases, predicted[f"by_{way}"], unseen=True)
            for way in folds.BY
        }
        errors = files.error_rows(in_sample(problem, values), by)
        ends = predicted["least"], predicted["most"]
        new = (m for m in unseen_misses() if family in ("", m.case.family))
        misses = [*bands.misses(problem.cases, *ends), *rig_misses(), *new]
        if family:
            errors = files.errors_with(errors)
            predicted = files.held_out_with(predicted, family)
        written["errors.toml"] = files.tables(errors, files.ERRORS_HEAD)
        written["held_out.csv"] = files.held_out_text(predicted)
        others = files.bands_but({miss.case.family for miss in misses})
        written["bands.csv"] = bands.text(misses, others)
    return written


def main() -> int:
    """Run a calibration, write its files and say what changed."""
    parser = argparse.ArgumentParser(prog="python -m stacklib.evidence.calibrate")
    parser.add_argument(
        "--quick", action="store_true", help="the factors alone, without their errors"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes"
    )
    parser.add_argument(
        "--family", default="", help="the own factors of one family alone: E"
    )
    args = parser.parse_args()
    for name, text in calibrate(args.workers, args.quick, args.family).items():
        path = files.data_path(name)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {'as it was' if text == before else 'written'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
