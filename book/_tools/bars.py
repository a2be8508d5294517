"""Line 8 of a chapter's report: numbers in the result files beside their bars.

A bar of `bars.toml` holds numbers by their place in the result file. `rows/*/ratio` is
that of every row, `rows/plain*/times_s` that of rows whose id fits; samples count by
their median. `over` divides by what stands
elsewhere, `off` is the factor either way, `take` the median or the 90th percentile in
place of each; `least` and `most` are a number or a place, `is` may hold a `*`, too.
"""

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

from _tools import tree
from _tools.lines import Count, Line

SIGNS = {"least": "at least", "most": "at most", "is": "must be"}
MEETS = {
    "least": lambda have, bar: have >= bar,
    "most": lambda have, bar: have <= bar,
    "is": lambda have, bar: fnmatchcase(str(have), str(bar)),
}
TAKES = {
    "median": median,
    "p90": lambda values: sorted(values)[int(0.9 * len(values))],
}
BUSY = 0.1  # cores that others had, from which a measurement may say another thing


def measured(chapter: int, root: Path) -> Line:
    """The comparisons the chapter owes have result files that meet their bars."""
    mine = [bar for bar in table(root) if bar["chapter"] == chapter]
    files = {bar["result"]: files_of(bar, root) for bar in mine}
    owed = [bar for bar in mine if bar.get("owed", True)]
    there = [bar for bar in owed if files[bar["result"]]]
    missing = [
        f"{bar['what']}: no {bar['result']}.json" for bar in owed if bar not in there
    ]
    held = [
        [f"{bar['what']}, {path.stem}: {fault}" for fault in faults(asked, path)]
        for bar in mine
        for path in files[bar["result"]]
        for asked in bar.get("held", ())
    ]
    counts = [Count("benchmarks", len(there), len(owed))]
    if held:
        counts.append(Count("bars", held.count([]), len(held)))
    others = [bar for bar in mine if bar not in owed]
    note = "; ".join(
        f"{bar['what']}: {'measured' if files[bar['result']] else 'not measured yet'}"
        for bar in others
    )
    missing += [fault for found in held for fault in found]
    never = any(not files[bar["result"]] for bar in others)
    return Line("measured", tuple(counts), note, tuple(missing), not_run=never)


def table(root: Path) -> list[dict[str, Any]]:
    """Every comparison that is owed, and what it is held to."""
    return tree.read_toml(root / "book" / "_tools" / "bars.toml").get("bar", [])


def files_of(bar: dict[str, Any], root: Path) -> list[Path]:
    """The result files of a comparison: one, or one for each kind of machine."""
    return sorted((root / "benchmarks" / "results").glob(f"{bar['result']}.json"))


def faults(asked: dict[str, Any], path: Path) -> Iterator[str]:
    """What misses a bar: how many, and the farthest with its number."""
    result = json.loads(path.read_text("utf-8"))
    (sign,) = SIGNS.keys() & asked.keys()
    try:
        pairs = list(judged(result, asked, sign))
    except LookupError as error:
        yield str(error)
        return
    missed = [pair for pair in pairs if not MEETS[sign](pair[1], pair[2])]
    if missed:
        name, have, bar = max(missed, key=lambda pair: _far(pair[1], pair[2]))
        some = f"{len(missed)} of {len(pairs)}, {name}: " if len(pairs) > 1 else ""
        busy = result.get("others") or 0
        again = f"; others had {busy:.1f} cores: measure again" if busy > BUSY else ""
        yield f"{some}{_said(have)}, {SIGNS[sign]} {_said(bar)}{again}"


def judged(
    result: Any, asked: dict[str, Any], sign: str
) -> Iterator[tuple[str, Any, Any]]:
    """Each number with its name and its bar."""
    found = at(result, asked["value"])
    names, values = [name for name, _ in found], [value for _, value in found]
    if "over" in asked:
        below = beside(result, asked["over"], len(values))
        pairs = zip(values, below, strict=True)
        values = [a / b if a is not None and b is not None else None for a, b in pairs]
    bars = beside(result, asked[sign], len(values))
    rows = [row for row in zip(names, values, bars, strict=True) if None not in row]
    if asked.get("off"):
        rows = [(name, max(value, 1 / value), bar) for name, value, bar in rows]
    if take := asked.get("take"):
        rows = [(take, TAKES[take]([value for _, value, _ in rows]), rows[0][2])]
    yield from rows


def beside(result: Any, value: Any, count: int) -> list[Any]:
    """As many of a number, or the numbers of a place."""
    if not (isinstance(value, str) and "/" in value):
        return [value] * count
    found = [each for _, each in at(result, value)]
    if len(found) not in (1, count):
        raise LookupError(f"{len(found)} numbers stand at {value}, beside {count}")
    return found * (count // len(found))


def at(result: Any, place: str) -> list[tuple[str, Any]]:
    """What stands at a place, each with its name; LookupError where nothing does."""
    found = list(_at(result, place.split("/"), place))
    if not found:
        raise LookupError(f"nothing stands at {place}")
    return found


def _at(found: Any, parts: list[str], name: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        yield name, median(found) if isinstance(found, list) else found
        return
    by_id = isinstance(found, list)
    rows = [(row["id"], row) for row in found] if by_id else found.items()
    for key, value in rows:
        if fnmatchcase(key, parts[0]):
            yield from _at(value, parts[1:], key if "*" in parts[0] else name)


def _far(have: Any, bar: Any) -> float:
    """How far a number is from its bar, as a factor."""
    try:
        return max(have / bar, bar / have)
    except (TypeError, ZeroDivisionError):
        return float("inf")


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
