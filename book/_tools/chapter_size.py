"""Line 10 of a chapter's report: its size beside its budget.

What passes a budget is argued for in `book/budget.toml`, which holds the budgets too.
"""

from pathlib import Path

from _tools import chapter_code, durations, size, tree
from _tools.lines import Line, Most

CODE, LINES, SECONDS = "mechanism code", "lines in all", "CPU seconds of tests"
# The account of a token is every chapter's, and counts for none.
APART = "serving/token"


def rooms(chapter: int) -> list[str]:
    """The rooms that count for a chapter; one of several counts for the first."""
    first = {room: n for n, own in reversed(chapter_code.ROOMS.items()) for room in own}
    return [room for room in chapter_code.ROOMS[chapter] if first[room] == chapter]


def folders(chapter: int, root: Path) -> dict[str, list[str]]:
    """Where a chapter stands: its mechanisms, its pages, tests of both, the rest."""
    own, found = rooms(chapter), sorted((root / "chapters").glob(f"{chapter:02}-*"))
    pages = [f"pages/{path.name[3:]}" for path in found]
    return {
        "mechanism": [f"stacklib/{room}" for room in own],
        "pages": [f"stacklib/{page}" for page in pages],
        "tests": [f"tests/{part}" for part in [*own, *pages]],
        "exercises": [f"exercises/{path.name}" for path in found],
        "notebooks": [f"chapters/{path.name}" for path in found],
    }


def sized(chapter: int, root: Path) -> Line:
    """Code of the mechanisms, all lines of Python, CPU seconds in the suite."""
    parts = folders(chapter, root)
    held = {
        part: size.counted([path for name in names for path in python(name, root)])
        for part, names in parts.items()
    }
    have = {
        CODE: held["mechanism"]["code"],
        LINES: sum(kinds.total() for kinds in held.values()),
    }
    notes = [f"{part} {kinds.total():,}" for part, kinds in held.items() if kinds]
    notes.append(f"cells of notebooks {cells(parts['notebooks'], root):,}")
    if cost := seconds([*parts["tests"], *parts["notebooks"]], root):
        have[SECONDS] = round(cost)
    else:
        notes.append(f"{SECONDS} not measured yet")
    counts, missing = judged(chapter, have, root)
    unmeasured = SECONDS not in have
    return Line("size", counts, ", ".join(notes), missing, not_run=unmeasured)


def python(folder: str, root: Path) -> list[Path]:
    """The Python of a folder that counts for its chapter."""
    found = tree.find(root, folder, "*.py")
    return [p for p in found if APART not in p.relative_to(root).as_posix()]


def cells(names: list[str], root: Path) -> int:
    """Lines of code that the chapter's notebooks show."""
    paths = [path for name in names for path in tree.find(root, name, "*.ipynb")]
    every = [cell for path in paths for cell in tree.read_notebook(path).cells]
    return sum(len(c.source.splitlines()) for c in every if c.cell_type == "code")


def seconds(names: list[str], root: Path) -> float:
    """CPU seconds of the files in these folders, in the last whole run of the suite."""
    inside = tuple(f"{name}/" for name in names)
    rows = durations.last_run(root).items()
    mine = (row for row in rows if row[0].startswith(inside) and APART not in row[0])
    return sum(cost for _, cost in mine)


def judged(
    chapter: int, have: dict[str, int], root: Path
) -> tuple[tuple[Most, ...], tuple[str, ...]]:
    """What the chapter holds beside the most it may, and reasons that fail."""
    table = tree.read_toml(root / "book" / "budget.toml")
    argued = {
        row["what"]: row["why"]
        for row in table.get("argued", ())
        if row["chapter"] == chapter
    }
    rows = [row for row in table["budget"] if row.get("chapter") in (None, chapter)]
    most = {
        row["what"]: row["most"] for row in sorted(rows, key=lambda r: "chapter" in r)
    }
    counts = tuple(
        Most(what, n, most[what], argued.get(what, "")) for what, n in have.items()
    )
    missing = [
        f"{count.what}: {count.have:,}, {count.want:,} at most; "
        "make it smaller, or argue for it in book/budget.toml"
        for count in counts
        if not count.ok
    ]
    missing += [
        f"{count.what}: book/budget.toml argues for what is within its budget"
        for count in counts
        if count.why and count.have <= count.want
    ]
    return counts, tuple(missing)
