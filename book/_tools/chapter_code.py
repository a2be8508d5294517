"""Lines of a chapter's report that are read from code and data, not from pages."""

import re
from collections import Counter
from pathlib import Path

from _tools import coverage_map, docs, tree
from _tools.lines import Count, Line

KINDS = {
    "systems": r"\d+\.\d+",
    "projects": r"P\d\.\d|10",
    "insights": r"K\d+",
    "advice": r"A\d+",
    "pitfalls": r"F\d+",
    "checklist": r"Q\d+",
    "contradictions": r"X\d+",
}
EXERCISES = 12
LEVELS = ("estimate", "derive", "build")
SHARED = (
    "quantity",
    "hardware",
    "models",
    "evidence",
    "grading",
    "plots",
    "pages",
    "sweep",
    "cli",
)
# The rooms each chapter fills, besides the shared ones.
ROOMS = {
    1: ("roofline", "tinylm"),
    2: ("gpu", "cost"),
    3: ("memory", "cost"),
    4: ("kernels", "tinylm"),
    5: ("accelerators",),
    6: ("interconnect", "tinylm"),
    7: ("quantizers", "tinylm"),
    8: ("serving", "paged_kv", "cost", "tinylm"),
    9: ("diy", "cost", "tinylm"),
    10: ("frontier",),
}


def ids(chapter: int, root: Path) -> dict[str, dict]:
    """The ids a chapter owns."""
    every = coverage_map.systems(root)
    return {id: row for id, row in every.items() if row["chapter"] == chapter}


def kind(id: str) -> str:
    """What an id names: a system, a project, an insight..."""
    return next(k for k, form in KINDS.items() if re.fullmatch(form, id))


def covered(chapter: int, root: Path) -> Line:
    """Every id of the chapter stands in the coverage map, without a fault."""
    owned, mapped = ids(chapter, root), coverage_map.coverage(root)
    known = coverage_map.systems(root)
    faults = [
        f"{id}: {fault}"
        for id in owned
        if id in mapped
        for fault in coverage_map.entry_faults(id, mapped[id], known, root)
    ]
    bad = {fault.split(":")[0] for fault in faults}
    good = [id for id in owned if id in mapped and id not in bad]
    totals, have = Counter(map(kind, owned)), Counter(map(kind, good))
    counts = [Count(k, have[k], totals[k]) for k in KINDS if totals[k]]
    absent = [f"{id}: not in coverage.toml" for id in owned if id not in mapped]
    return Line("covered", tuple(counts), missing=tuple(faults + absent))


def ways(chapter: int, root: Path) -> Line:
    """Ids of the three-ways list hold three ways, every other system two."""
    systems = {i: row for i, row in ids(chapter, root).items() if kind(i) == "systems"}
    mapped = coverage_map.coverage(root)
    need = {id: 3 if row.get("three_ways") else 2 for id, row in systems.items()}
    held = {id: sound_ways(mapped.get(id, {}).get("ways", {})) for id in systems}
    lacking = [f"{i}: {held[i]} of {n} ways" for i, n in need.items() if held[i] < n]
    counts = tuple(
        Count(name, sum(held[i] >= n for i in group), len(group))
        for name, n in (("three ways", 3), ("two ways", 2))
        if (group := [i for i in systems if need[i] == n])
    )
    return Line("ways", counts, missing=tuple(lacking))


def sound_ways(ways: dict[str, str]) -> int:
    """How many of the ways are of a known kind and import."""
    return sum(
        not list(coverage_map.way_faults({kind: name})) for kind, name in ways.items()
    )


def claims(chapter: int, root: Path) -> Line:
    """Every claim of the chapter has a running verdict or a citation."""
    from stacklib import pages
    from stacklib.evidence import leaf_faults

    rows, checked = pages.claims(chapter=chapter), pages.checks()
    missing: list[str] = []
    verdicts: Counter[str] = Counter()
    for row in rows:
        needs_check = row.claim.first_verdict not in ("external", "unverifiable")
        if needs_check and row.claim.id not in checked:
            missing.append(f"{row.claim.id}: no check")
            continue
        verdicts[row.verdict] += 1
        missing += leaf_faults(row)
    shown = claims_table(chapter, root)
    counts = (
        Count("claims", sum(verdicts.values()), len(rows)),
        Count("counts on the index page, table on the evidence page", shown, 2),
    )
    note = " ".join(f"{verdict} {n}" for verdict, n in sorted(verdicts.items()))
    return Line("claims", counts, note, tuple(missing))


def claims_table(chapter: int, root: Path) -> int:
    """Whether the index counts the chapter's claims, and its evidence page has them."""
    pages = [p for p in tree.notebooks(root) if tree.chapter_of(p) == chapter]
    index = [p for p in pages if p.name == "index.ipynb"]
    evidence = root / "book" / "evidence" / f"chapter-{chapter}.md"
    asked = {"claims-count": index, "claims-table": [evidence]}
    return sum(
        any(re.search(rf"\{{{what}\}}\s*{chapter}\b", _text(p)) for p in where)
        for what, where in asked.items()
    )


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def exercises(chapter: int, root: Path) -> Line:
    """Twelve exercises at three levels, every project, each proven both ways."""
    from stacklib import grading

    every = grading.discover(root)
    found = [e for e in every if e.chapter == chapter]
    texts = [e.text() for e in found]
    levels = Counter(text.level for text in texts)
    owned = {i for i in ids(chapter, root) if kind(i) == "projects"}
    shown = owned & {project for text in texts for project in text.project}
    proven = grading.prove(root, ids=[e.id for e in found]).faults if found else ()
    prefix = f"{chapter}."
    faults = [f for f in proven if not f[0].isdigit() or f.startswith(prefix)]
    counts = (
        Count("exercises", len(found), EXERCISES),
        *(Count(level, levels[level], 1) for level in LEVELS),
        Count("projects", len(shown), len(owned)),
    )
    absent = [f"{project}: no exercise" for project in sorted(owned - shown)]
    return Line("exercises", counts, missing=tuple(faults + absent))


def documented(chapter: int, root: Path) -> Line:
    """Public names of the chapter's rooms, and only they, are documented at length."""
    wanted = [*ROOMS[chapter], *SHARED]
    rooms = [room for room in wanted if room in docs.rooms(root)]
    faults = [fault for room in rooms for fault in docs.room_faults(room, root)]
    wordy = docs.wordy(root, [f"stacklib/{room}" for room in rooms])
    names = [name for room in rooms for name in docs.public_names(room)]
    bad = {fault.split()[0] for fault in faults}
    tests = root / "tests"
    tested = [room for room in rooms if any((tests / room).rglob("test_*.py"))]
    counts = (
        Count("public names", sum(name not in bad for name in names), len(names)),
        Count("rooms", len(rooms), len(wanted)),
        Count("rooms tested", len(tested), len(wanted)),
    )
    absent = [f"stacklib.{room} does not exist" for room in wanted if room not in rooms]
    untested = [f"tests/{room} is missing" for room in rooms if room not in tested]
    missing = tuple(faults + wordy + absent + untested)
    return Line("documented", counts, missing=missing)
