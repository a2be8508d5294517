"""Line 8 of a chapter's report: numbers in the result files beside their bars.

A bar of `bars.toml` is a line such as `median rows/*/ratio >= 50`. It holds numbers by
their place in the result file: `rows/*/ratio` is that of every row, `rows/a*/times_s`
that of rows whose id fits; samples count by their median. `over` divides by what stands
elsewhere; before a place may stand `off`, the factor either way, and `median` or `p90`
in place of each. The bar is a number or a place, after `==` words that may hold a `*`.
"""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

from _tools import tree
from _tools.lines import Count, Line

FORM = re.compile(
    r"(?P<off>off )?(?:(?P<take>median|p90) )?(?P<value>.+?)(?: over (?P<over>.+?))?"
    r" (?P<sign>>=|<=|==) (?P<bar>.+)"
)
SIGNS = {
    ">=": ("at least", lambda have, bar: have >= bar),
    "<=": ("at most", lambda have, bar: have <= bar),
    "==": (
        "must be",
        lambda have, bar: have == bar or fnmatchcase(str(have), str(bar)),
    ),
}
TAKES = {
    "median": median,
    "p90": lambda values: sorted(values)[int(0.9 * len(values))],
}
BUSY = 0.1  # cores that others had, from which a measurement may say another thing
Held = tuple[str, Any, Any]  # a name, a number and its bar


def measured(chapter: int, root: Path) -> Line:
    """The comparisons the chapter owes have result files that meet their bars."""
    mine = table(root).get(str(chapter), {})
    files = {name: files_of(name, root) for name in mine}
    owed = [name for name, bar in mine.items() if bar.get("owed", True)]
    missing = [f"{mine[n]['what']}: no {n}.json" for n in owed if not files[n]]
    held = [
        [
            f"{bar['what']}, {path.stem}: {fault}{because(name, root)}"
            for fault in faults(asked, path)
        ]
        for name, bar in mine.items()
        for path in files[name]
        for asked in bar.get("held", ())
    ]
    counts = [Count("benchmarks", len(owed) - len(missing), len(owed))]
    if held:
        counts.append(Count("bars", held.count([]), len(held)))
    others = [name for name in mine if name not in owed]
    note = "; ".join(
        f"{mine[name]['what']}: {'measured' if files[name] else 'not measured yet'}"
        for name in others
    )
    missing += [fault for found in held for fault in found]
    never = not all(files[name] for name in others)
    return Line("measured", tuple(counts), note, tuple(missing), not_run=never)


def table(root: Path) -> dict[str, dict[str, Any]]:
    """What each chapter owes, by the name of the result file."""
    return tree.read_toml(root / "book" / "_tools" / "bars.toml")


def files_of(name: str, root: Path) -> list[Path]:
    """The result files of a comparison: one, or one for each kind of machine."""
    return sorted((root / "benchmarks" / "results").glob(f"{name}.json"))


def because(name: str, root: Path) -> str:
    """The line of a profile that says why a comparison misses its bar; if there is one.

    `benchmarks/profiles.py` measures it.
    """
    path = root / "benchmarks" / "results" / "profiles.json"
    if not path.is_file():
        return ""
    found = json.loads(path.read_text("utf-8"))
    lines = {row["id"]: row["why"] for row in found["rows"] if "why" in row}
    line = lines.get(name.removesuffix("_*"))
    return f"; profiled on {found['device'].partition(',')[0]}: {line}" if line else ""


def faults(asked: str, path: Path) -> Iterator[str]:
    """What misses a bar: how many, and the farthest with its number."""
    if not (form := FORM.fullmatch(asked)):
        raise ValueError(f"{asked!r} is no bar, such as 'rows/*/ratio >= 1'")
    try:
        result = json.loads(path.read_text("utf-8"))
    except ValueError as error:  # half written, or something else by that name
        yield f"no JSON: {error}"
        return
    try:
        rows = list(judged(result, form))
    except LookupError as error:
        yield str(error)
        return
    words, meets = SIGNS[form["sign"]]
    missed = [row for row in rows if not meets(*row[1:])]
    if missed:
        name, have, bar = max(missed, key=_far)
        some = f"{len(missed)} of {len(rows)}, {name}: " if len(rows) > 1 else ""
        busy = result.get("others") or 0
        again = f"; others had {busy:.1f} cores: measure again" if busy > BUSY else ""
        yield f"{some}{_said(have)}, {words} {_said(bar)}{again}"


def judged(result: Any, form: re.Match[str]) -> Iterator[Held]:
    """Each number with its name and its bar."""
    names, values = zip(*at(result, form["value"]), strict=True)
    if form["over"]:
        below = beside(result, form["over"], len(values))
        values = tuple(map(_ratio, values, below))
    bars = beside(result, form["bar"], len(values))
    rows = [row for row in zip(names, values, bars, strict=True) if None not in row]
    if form["off"]:
        rows = [(name, max(value, 1 / value), bar) for name, value, bar in rows]
    if take := form["take"]:
        rows = [(take, TAKES[take]([value for _, value, _ in rows]), rows[0][2])]
    yield from rows


def beside(result: Any, text: str, count: int) -> list[Any]:
    """As many of a number or of words, or the numbers of a place."""
    if "/" not in text:
        try:
            return [float(text)] * count
        except ValueError:
            return [text] * count
    found = [each for _, each in at(result, text)]
    if len(found) not in (1, count):
        raise LookupError(f"{len(found)} numbers stand at {text}, beside {count}")
    return found * (count // len(found))


def at(result: Any, place: str) -> list[tuple[str, Any]]:
    """What stands at a place, each with its name; LookupError where nothing does."""
    found = list(_at(result, place.split("/"), place))
    if not found:
        raise LookupError(f"nothing stands at {place}")
    return found


def _at(found: Any, parts: list[str], name: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        yield name, median(found) if found and isinstance(found, list) else found
        return
    by_id = isinstance(found, list)
    rows = [(row["id"], row) for row in found] if by_id else found.items()
    for key, value in rows:
        if fnmatchcase(key, parts[0]):
            yield from _at(value, parts[1:], key if "*" in parts[0] else name)


def _ratio(value: Any, below: Any) -> Any:
    return None if value is None or below is None else value / below


def _far(row: Held) -> float:
    """How far a number is from its bar, as a factor."""
    try:
        return max(row[1] / row[2], row[2] / row[1])
    except (TypeError, ZeroDivisionError):
        return float("inf")


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
