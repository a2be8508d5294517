"""``stacklib validate FILE``: the models held against published measurements."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .arguments import add_formats, as_table, columns, emit, show_table, whole

if TYPE_CHECKING:
    from stacklib.evidence.measurements import Measurement
    from stacklib.evidence.validate import Bar, Outcome, Score, Validation

FAMILIES = (
    "family", "what", "predicted", "refused", "median", "p90", "bias", "bar", "met"
)  # fmt: skip
MOST_GROUPS = 12  # lines of a breakdown
LONG = 5000  # rows from which a bar is worth showing


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "validate",
        description="Predicts every row of a CSV of measurements or refuses it with "
        "a reason; nothing is fitted. Exit status 0 when the file could be read, "
        "also where rows are refused; 2 for a file that cannot be read.",
    )
    parser.add_argument(
        "file", nargs="?", help="a CSV; the book's own measurements if left out"
    )
    parser.add_argument(
        "--family", help="only this family (A), or one half of it (D_large)"
    )
    parser.add_argument(
        "--worst", type=whole, default=5, help="rows furthest off to show (5)"
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the scores; raises MeasurementError for a file that cannot be read."""
    from stacklib.evidence import measurements, validate

    if args.worst < 0:
        raise ValueError(f"--worst {args.worst}: 0 or more rows")
    family = _family(args.family)
    rows = measurements.read(args.file) if args.file else list(measurements.fitted())
    if family:
        rows = [r for r in rows if family in (r.family, validate.key_of(r))]
    report = validate.validate(_counted(rows, args.json))
    if args.json:
        emit(report.as_dict())
        return 0
    if as_table(args):
        show_table(args, FAMILIES, _families(report, not args.file))
        return 0
    print("\n\n".join(_text(report, args.worst, not args.file)))
    return 0


def _family(asked: str | None) -> str | None:
    """The family or key asked for; UnknownName with the nearest otherwise."""
    from stacklib.evidence import measurements, validate
    from stacklib.quantity import resolve

    if asked is None:
        return None
    return resolve(asked, sorted({*measurements.FAMILIES, *validate.KEYS}), "family")


def _counted(rows: Sequence[Measurement], quiet: bool) -> Iterator[Measurement]:
    from stacklib.sweep import progress

    if quiet or len(rows) < LONG:
        return iter(rows)
    return progress(rows, len(rows), "predicting")


def _text(report: Validation, worst: int, own: bool) -> Iterator[str]:
    """The parts of the printed report."""
    from stacklib.evidence import validate

    lost = sum(o.key is None for o in report.outcomes)
    note = f"\n{lost} rows name no known family" if lost else ""
    rows = _families(report, own)
    yield (columns([FAMILIES, *rows]) if rows else "no rows") + note
    yield _bands(report)
    if report.predicted:
        yield _cells(report)
    for key, found in report.families.items():
        if found.predicted:
            part = report.of(key)
            yield _breakdown(f"{key} by source", part, validate.source_of)
            yield _breakdown(f"{key} by device", part, validate.device_name)
            if worst:
                rows = [_worst_line(o) for o in part.worst(worst)]
                yield f"{key}, furthest off\n" + columns([WORST, *rows])
    if report.reasons():
        yield _refusals(report)


def _bands(report: Validation) -> str:
    """What the book prints beside its numbers: errors on rows that no fit had seen."""
    from stacklib.evidence import validate
    from stacklib.hardware.errors import family_band

    rows = [("band that is printed", "rows never seen", "median", "p90", "bar", "met")]
    bars: dict[str, Bar | None] = {}
    for key in report.families:
        bars |= validate.PARTS.get(key, {key: validate.BARS.get(key)})
    for key, bar in bars.items():
        band = family_band(key)
        if band is not None:
            found = validate.Score(band.unseen, 0, band.median, band.p90, None)
            shown = percent(band.median), percent(band.p90), asked(bar)
            rows.append((key, str(band.unseen), *shown, verdict(found, bar)))
    return columns(rows)


def _cells(report: Validation) -> str:
    """The 90 % band of each cell that has rows here, and how many lie inside."""
    from stacklib.hardware.errors import cells

    held: dict[str, list[Outcome]] = {}
    for found in report.predicted:
        if found.key is not None:
            held.setdefault(found.cell or f"{found.key}, no band", []).append(found)
    rows = [("cell", "rows", "inside", "predicted times", "up to")]
    for cell, mine in sorted(held.items()):
        inside = percent(sum(o.inside for o in mine) / len(mine))
        band = cells().get(cell)
        ends = (f"{band.low:.2f}", f"{band.high:.2f}") if band else ("–", "–")
        rows.append((cell, str(len(mine)), inside if band else "–", *ends))
    return columns(rows)


def asked(bar: Bar | None) -> str:
    """Median and 90th percentile that the plan wants."""
    return f"{100 * bar.median:.0f}/{100 * bar.p90:.0f} %" if bar else "–"


def percent(share: float | None, signed: bool = False) -> str:
    """A share as a percentage for the reader; a dash where there is none."""
    if share is None:
        return "–"
    return f"{100 * share:+.1f} %" if signed else f"{100 * share:.1f} %"


def verdict(found: Score, bar: Bar | None) -> str:
    """Whether the errors meet the bar."""
    if bar is None or found.median_error is None or found.p90_error is None:
        return "–"
    median, p90 = found.median_error <= bar.median, found.p90_error <= bar.p90
    if median and p90:
        return "met"
    return (
        "missed" if not (median or p90) else f"{'p90' if median else 'median'} missed"
    )


def _families(report: Validation, own: bool) -> list[tuple[str, ...]]:
    """A line of each family that has rows; a fit is not judged by its ``own``."""
    from stacklib.evidence import validate
    from stacklib.evidence.validate.score import UNFITTED

    rows: list[tuple[str, ...]] = []
    for key, s in report.families.items():
        if s.predicted or s.refused:
            bar = validate.BARS.get(key)
            fitted = own and bar and s.predicted and key not in UNFITTED
            rows.append(
                (
                    key,
                    validate.TITLES[key],
                    str(s.predicted),
                    str(s.refused),
                    percent(s.median_error),
                    percent(s.p90_error),
                    percent(s.bias, signed=True),
                    asked(bar),
                    "fitted" if fitted else verdict(s, bar),
                )
            )
    return rows


def _breakdown(
    title: str, report: Validation, group: Callable[[Measurement], str]
) -> str:
    scores = [(n, s) for n, s in report.by(group).items() if s.predicted]
    rows = [(title, "predicted", "refused", "median", "p90", "bias")]
    rows += [
        (
            name[:44],
            str(s.predicted),
            str(s.refused),
            percent(s.median_error),
            percent(s.p90_error),
            percent(s.bias, signed=True),
        )
        for name, s in scores[:MOST_GROUPS]
    ]
    rest = len(scores) - MOST_GROUPS
    return columns(rows) + (f"\nand {rest} more" if rest > 0 else "")


WORST = ("id", "device", "predicted", "measured", "unit", "bound", "what")


def _worst_line(o: Outcome) -> tuple[str, ...]:
    from stacklib.evidence import validate
    from stacklib.quantity.units import format_number

    assert o.predicted is not None
    return (
        o.row.id,
        validate.device_name(o.row),
        format_number(o.predicted),
        format_number(o.row.value),
        o.row.unit,
        str(o.bound),
        f"{o.row.subject}; {o.row.settings}"[:60],
    )


def _refusals(report: Validation) -> str:
    reasons = report.reasons()
    total = sum(reasons.values())
    rows = [(str(n), reason[:100]) for reason, n in reasons.most_common(MOST_GROUPS)]
    rest = len(reasons) - MOST_GROUPS
    more = f"\nand {rest} more reasons" if rest > 0 else ""
    return f"{total} refused\n" + columns(rows) + more
