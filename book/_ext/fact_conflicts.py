"""What published tables got wrong: every row, by cause, beside what we compute."""

from functools import cache

from fact_html import Sheet, escape, link, table

from stacklib import hardware
from stacklib.evidence import conflicts
from stacklib.evidence.conflicts import Ruling
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity

HEAD = ("What", "As it went round", "Computed", "Verdict")
CAUSE_HEAD = ("Cause", "Rows", "For example", "As it went round", "Computed")


@cache
def rulings() -> tuple[Ruling, ...]:
    """Every row with its check run."""
    return tuple(conflicts.rule(row.id) for row in conflicts.load())


def conflict_tables(sheet: Sheet) -> str:
    """Causes with their counts, then the rows of each."""
    groups = {
        cause: [r for r in rulings() if r.conflict.cause == cause]
        for cause in conflicts.CAUSES
    }
    ordered = sorted(
        (cause for cause in groups if groups[cause]),
        key=lambda cause: (cause == "right", -len(groups[cause])),
    )
    first = [_cause_row(cause, groups[cause], sheet) for cause in ordered]
    caption = f"{len(rulings())} disputed figures, by what went wrong"
    parts = [table(caption, CAUSE_HEAD, first, "causes")]
    for cause in ordered:
        rows = [_row(ruling, sheet) for ruling in groups[cause]]
        words = conflicts.CAUSES[cause]
        parts.append(
            f'<section id="cause-{_place(cause)}"><h2>{escape(cause.capitalize())}</h2>'
            f"\n<p>{escape(words.capitalize())}.</p>\n"
            + table(f"{cause.capitalize()}: {len(rows)}", HEAD, rows, wide=True)
            + "</section>"
        )
    return "\n".join(parts)


def _place(cause: str) -> str:
    return cause.replace(" ", "-").lower()


def _cause_row(cause: str, rows: list[Ruling], sheet: Sheet) -> list[str]:
    """A cause with the first of its rows that has a computed value."""
    shown = next((r for r in rows if r.computed is not None), rows[0])
    return [
        f'<a href="#cause-{_place(cause)}">{escape(cause)}</a>',
        str(len(rows)),
        f'<a href="#conflict-{shown.conflict.id}">{escape(shown.conflict.item)}</a>',
        escape(shown.conflict.claimed),
        _computed(shown, sheet, "example"),
    ]


def _computed(ruling: Ruling, sheet: Sheet, prefix: str) -> str:
    """Our value, which opens; a dash where nothing can be computed."""
    value = ruling.computed
    if value is None:
        return "–"
    words = [t.replace("_", " ") for t in sorted(value.tags) if t != "per_chip"]
    name = f"{prefix}.{ruling.conflict.id}"
    number = sheet.number(name, value, what=ruling.conflict.item, tree=value.tree())
    return " ".join([number, *map(escape, words)])


def _row(ruling: Ruling, sheet: Sheet) -> list[str]:
    """The figure with its cause and source; claimed, computed, verdict."""
    row = ruling.conflict
    what = f"conflict-{row.id}|<strong>{escape(row.item)}</strong>"
    what += f'<br>{escape(row.why)}<span class="st-note">{escape(row.source)}</span>'
    computed = _computed(ruling, sheet, "conflict")
    computed += f'<span class="st-note">sources: {escape(row.correct)}</span>'
    if row.explained:
        computed += f'<span class="st-note">{escape(row.explained)}</span>'
    trust = f'<span class="st-note">{escape(row.confidence)} confidence</span>'
    return [what, escape(row.claimed), computed, escape(row.verdict) + trust]


# ---- a device's own ----


@cache
def _about() -> dict[str, list[Ruling]]:
    """Rows by device: those whose computed value stands on a field of it."""
    keys = [key for key in hardware.names() if key != hardware.THIS_MACHINE]
    owners: dict[tuple, str] = {}
    for key in keys:
        device = hardware.get(key)
        known = [
            *device.fields.values(),
            *(p.rate for p in device.peaks.values()),
            *(p.per_unit_per_cycle for p in device.peaks.values()),
        ]
        owners |= {_mark(value): key for value in known if value is not None}
    found: dict[str, list[Ruling]] = {}
    for ruling in rulings():
        leaves = ruling.computed.leaves() if ruling.computed is not None else ()
        for key in dict.fromkeys(owners.get(_mark(part)) for part in leaves):
            if key:
                found.setdefault(key, []).append(ruling)
    return found


def _mark(value: Quantity) -> tuple:
    return value.label, f"{value.si:.9g}", value.source


def of_device(device: Accelerator) -> str:
    """What sources got wrong about a device; empty where nothing is known."""
    rows = _about().get(device.key, [])
    if not rows:
        return ""
    items = "".join(
        f"<li>{link(f'conflicts.html#conflict-{r.conflict.id}', r.conflict.item)}: "
        f"{escape(r.conflict.claimed)} ({escape(r.conflict.verdict)}).</li>"
        for r in rows
    )
    return f"<p>Published, and disputed:</p>\n<ul>{items}</ul>\n"
