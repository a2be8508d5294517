"""Is a chapter done? Ten lines with counts against their totals.

`make chapter N=3` prints them and fails if one falls short; `--json` names what is
missing.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from _tools import bars, chapter_code, chapter_pages, chapter_size, tree
from _tools.lines import Line

MAKERS: list[Callable[[int, Path], Line]] = [
    chapter_code.covered,
    chapter_code.ways,
    chapter_code.claims,
    chapter_code.exercises,
    chapter_pages.alive,
    chapter_pages.notebooks,
    chapter_pages.clean,
    bars.measured,
    chapter_code.documented,
    chapter_size.sized,
]
CHAPTERS = range(1, 11)


def report(chapter: int, root: Path = tree.ROOT) -> list[Line]:
    """The ten lines of a chapter, in the order of the definition of done."""
    return [make(chapter, root) for make in MAKERS]


def as_json(chapter: int, lines: list[Line]) -> str:
    """The report for a program to read, with everything that is missing."""
    rows = [{"line": number, **line.as_dict()} for number, line in enumerate(lines, 1)]
    done = all(line.ok for line in lines)
    return json.dumps({"chapter": chapter, "done": done, "lines": rows}, indent=1)


def main(argv: list[str] | None = None, root: Path = tree.ROOT) -> int:
    """Print the report; 1 if a line falls short."""
    parser = argparse.ArgumentParser(prog="make chapter", description=__doc__)
    parser.add_argument("chapter", type=int, choices=CHAPTERS, metavar="N")
    parser.add_argument("--json", action="store_true", help="with what is missing")
    options = parser.parse_args(argv)
    lines = report(options.chapter, root)
    if options.json:
        print(as_json(options.chapter, lines))
    else:
        for number, line in enumerate(lines, 1):
            print(f"{number} {line}")
    return int(not all(line.ok for line in lines))


if __name__ == "__main__":
    sys.exit(main())
