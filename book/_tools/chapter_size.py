"""Line 10 of a chapter's report: its size beside its budget, of `book/budget.toml`.

What was over its budget when it was written has a ceiling there that only falls.
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
    held = {part: lines(names, root) for part, names in parts.items()}
    have = {CODE: code(parts["mechanism"], root), LINES: sum(held.values())}
    notes = [f"{part} {many:,}" for part, many in held.items() if many]
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


def lines(names: list[str], root: Path) -> int:
    """Lines of the Python of these folders."""
    return sum(len(size.Module(path).lines) for n in names for path in python(n, root))


def code(names: list[str], root: Path) -> int:
    """Those of them that are code: docstrings, comments and blanks apart."""
    return size.counted([path for n in names for path in python(n, root)])["code"]


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
    most, ceiling = rows("budget", chapter, root), rows("ceiling", chapter, root)
    counts = tuple(
        Most(what, n, most[what], ceiling.get(what, 0)) for what, n in have.items()
    )
    missing = [
        f"{count.what}: {count.have:,}, {max(count.want, count.ceiling):,} at most; "
        "make it smaller"
        for count in counts
        if not count.ok
    ]
    return counts, tuple(missing)


def rows(name: str, chapter: int, root: Path) -> dict[str, int]:
    """The most of each kind, by the rows of all chapters and then by its own."""
    table = tree.read_toml(root / "book" / "budget.toml").get(name, ())
    mine = [row for row in table if row.get("chapter") in (None, chapter)]
    return {r["what"]: r["most"] for r in sorted(mine, key=lambda r: "chapter" in r)}
