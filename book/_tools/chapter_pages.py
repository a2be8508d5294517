"""Lines of a chapter's report that are read from its pages."""

import json
import re
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from _tools import brackets, durations, links, lint, nb, prose, sentences, suite, tree
from _tools.lines import Count, Line

PREDICTIONS, LIVE = 1, 2
PREDICT = re.compile(r"^[`:]{3,}\{predict\}", re.M)
LIVE_FIGURE = re.compile(r'<div[^>]*class="st-live".*?</script>.*?st-live-static', re.S)


def of_chapter(chapter: int, root: Path) -> list[Path]:
    """The chapter's notebooks."""
    return [p for p in tree.notebooks(root) if tree.chapter_of(p) == chapter]


def alive(chapter: int, root: Path) -> Line:
    """A prediction to commit to, and live figures with their static versions."""
    predictions, live, missing = 0, 0, []
    for path in of_chapter(chapter, root):
        for cell in tree.read_notebook(path).cells:
            if cell.cell_type == "markdown":
                predictions += len(PREDICT.findall(cell.source))
            for output in cell.get("outputs", ()):
                html = output.get("data", {}).get("text/html", "")
                for figure in LIVE_FIGURE.findall(html):
                    live += "data-test=" in figure
                    if "data-test=" not in figure:
                        missing.append(f"{path.name}: a live figure asserts no value")
    counts = (Count("predictions", predictions, PREDICTIONS), Count("live", live, LIVE))
    return Line("alive", counts, missing=tuple(missing))


def notebooks(chapter: int, root: Path) -> Line:
    """Strict nbval is green, no cell is unexecuted, each notebook is quick."""
    paths = of_chapter(chapter, root)
    faults = [fault for path in paths for fault in nb.faults(path, root)]
    failed, seconds = compared(paths, root)
    slow = {name: s for name, s in seconds.items() if s > nb.SECONDS}
    faults += [f"{name}: cell {cell} differs or fails" for name, cell in failed]
    most = f"at most {nb.SECONDS:g}"
    faults += [f"{name}: slow, {s:.0f} CPU s; {most}" for name, s in slow.items()]
    bad = {fault.split(":")[0].split(",")[0] for fault in faults}
    good = sum(tree.name(path, root) not in bad for path in paths)
    note = f"slowest {max(seconds.values()):.1f} s" if seconds else ""
    # A chapter is an index and at least one section.
    counts = (Count("notebooks", good, max(len(paths), 2)),)
    return Line("notebooks", counts, note, tuple(faults))


def compared(
    paths: list[Path], root: Path
) -> tuple[list[tuple[str, str]], dict[str, float]]:
    """Cells that fail under strict nbval, and CPU seconds each notebook took."""
    if not paths:
        return [], {}
    names = [tree.name(path, root) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        report, cost = Path(folder) / "report.xml", Path(folder) / "cost.json"
        timed = ("-p", durations.__name__, f"--cpu-seconds={cost}")
        command = suite.command(
            names, f"--junitxml={report}", "-o", "junit_family=xunit1", "-q", *timed
        )
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if not report.exists():
            return [(name, ran.stdout[-300:]) for name in names], {}
        cases = list(ElementTree.parse(report).iter("testcase"))
        seconds = json.loads(cost.read_text("utf-8"))
    failed = [
        (case.get("file", ""), case.get("name", "").removeprefix("Cell "))
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    return failed, {name: seconds.get(name, 0.0) for name in names}


def clean(chapter: int, root: Path) -> Line:
    """No bare quantity, stale number, broken link or unregistered figure."""
    folders = {p.parent.name for p in of_chapter(chapter, root)}
    blocks = [b for b in prose.blocks(root) if folders & set(b.file.split("/"))]
    entries = [e for e in lint.allowed(root) if folders & set(e["file"].split("/"))]
    built = root / "_build" / "html"
    broken = links.faults(built)
    if built.is_dir():
        broken = [f for f in broken if folders & set(f.split(":")[0].split("/"))]
    broken += stale(of_chapter(chapter, root), root)
    faults = {
        "typed quantities": lint.faults(blocks, entries),
        "stale numbers": [str(m) for m in sentences.moved(blocks, brackets.stored())],
        "faults of built pages": broken,
        "guard": guarded(of_chapter(chapter, root)),
    }
    missing = [fault for group in faults.values() for fault in group]
    note = ", ".join(f"{what} {len(group)}" for what, group in faults.items())
    return Line("clean", (), note, tuple(missing))


def stale(paths: list[Path], root: Path) -> list[str]:
    """Built pages older than their notebooks, and warnings of the last build."""
    html = root / "_build" / "html"
    found = []
    for path in paths:
        page = html / path.relative_to(root).with_suffix(".html")
        if not page.exists() or page.stat().st_mtime < path.stat().st_mtime:
            found.append(f"{tree.name(path, root)} is newer than its page: make book")
    log = root / "_build" / "sphinx.log"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return found + [line for line in lines if "WARNING" in line or "ERROR" in line]


def guarded(paths: list[Path]) -> list[str]:
    """Faults of what the notebooks show: impossible values, unregistered figures."""
    from stacklib.evidence import guard

    entries = [entry for path in paths for entry in guard.read_notebook(path)]
    loose = [fault for path in paths for fault in guard.unregistered(path)]
    return guard.faults(entries) + loose
