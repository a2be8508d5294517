"""Run the notebooks and refresh what is committed of them: `make execute`.

Only notebooks whose outputs changed, as strict nbval would see it, are written.
Measured cells keep their stored outputs until something else in the notebook
changes or `--measured` asks for new ones. Bracket texts of computed links are
refreshed in every page; `make links` does that alone.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from _tools import durations, nb, outputs, readme, tree
from _tools.brackets import Lookup, refresh, stored
from _tools.rerun import (
    NotebookFailed,
    linked,
    merged,
    normalised,
    run,
    stamped,
    text_of,
)
from _tools.said import FRONT
from stacklib import sweep

WORKERS = 2


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook: written, unchanged, or failed with a reason."""

    name: str
    written: bool
    seconds: float
    fault: str = ""


def refresh_notebook(
    path: Path, root: Path = tree.ROOT, measured: bool = False, drawings: bool = False
) -> Outcome:
    """Execute one notebook; write it back if it differs; never half of it."""
    name, start = tree.name(path, root), durations.spent()
    stored = tree.read_notebook(path)
    try:
        fresh = run(stored, path.parent)
        seconds = durations.spent() - start  # the kernel has ended
        masks = [] if drawings else outputs.patterns()
        result = merged(stored, fresh, masks, measured)
        if result is fresh or nb.took(stored) > nb.SECONDS:
            stamped(result, seconds)
        return Outcome(name, write(path, normalised(result)), seconds)
    except (NotebookFailed, LookupError) as error:
        return Outcome(name, False, durations.spent() - start, f"{name}: {error}")


def write(path: Path, notebook: Any) -> bool:
    """Store the notebook unless the file already reads the same."""
    text = text_of(notebook)
    if path.read_text("utf-8") == text:
        return False
    tree.write_atomic(path, text)
    return True


def refresh_links(root: Path = tree.ROOT, lookup: Lookup | None = None) -> list[str]:
    """Refresh the links of every page and notebook; the names of those written."""
    written, lookup = [], lookup or stored(root)
    for path in tree.pages(root):
        old = path.read_text("utf-8")
        new = at(path, root, lambda old=old: refresh(readme.filled(old, root), lookup))
        if new != old:
            tree.write_atomic(path, new)
            written.append(tree.name(path, root))
    for path in tree.notebooks(root):
        notebook = tree.read_notebook(path)
        before = [cell.source for cell in notebook.cells]
        at(path, root, lambda notebook=notebook: linked(notebook, lookup))
        if before != [cell.source for cell in notebook.cells]:
            tree.write_atomic(path, text_of(notebook))
            written.append(tree.name(path, root))
    return written


def at(path: Path, root: Path, step: Callable[[], Any]) -> Any:
    """Do `step`; an unknown number's error then names the page."""
    try:
        return step()
    except LookupError as error:
        raise LookupError(f"{tree.name(path, root)}: {error}") from None


def refresh_front(root: Path = tree.ROOT) -> list[str]:
    """Store what the pages without cells say; the file's name if it changed."""
    from stacklib.pages import front

    said, path = front.said().stored(), root / FRONT
    if path.is_file():
        held = json.loads(path.read_text("utf-8"))
        if not any(outputs.numbers(held, said)):
            return []
    tree.write_atomic(path, json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    return [FRONT]


def located(given: Path, root: Path = tree.ROOT) -> Path:
    """A notebook of the book by its path, or as `03-memory/caches`; ValueError with
    the nearest for what is none.
    """
    short = root / "chapters" / given.with_suffix(".ipynb")
    path, known = short if short.is_file() else given.resolve(), tree.notebooks(root)
    if path in known:
        return path
    named = {"/".join(p.with_suffix("").parts[-2:]): p for p in known}
    asked = "/".join(path.with_suffix("").parts[-2:])
    near = get_close_matches(asked, named, 1, 0.0)
    told = [f"; the nearest is {tree.name(named[name], root)}" for name in near]
    raise ValueError(f"{given} is no notebook of the book{''.join(told)}")


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make execute", description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    parser.add_argument("--links-only", action="store_true", help="run nothing")
    parser.add_argument("--measured", action="store_true", help="measure anew")
    drawings = "write also where only a drawing changed"
    parser.add_argument("--drawings", action="store_true", help=drawings)
    parser.add_argument("--workers", type=int, default=WORKERS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None, root: Path = tree.ROOT) -> int:
    """Execute and report; 1 if a notebook failed, 2 for an unknown one or number."""
    options = arguments(argv)
    outcomes: list[Outcome] = []
    if not options.links_only:
        try:
            paths = [located(p, root) for p in options.notebooks]
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        paths = paths or tree.notebooks(root)
        same = {
            "root": root,
            "measured": options.measured,
            "drawings": options.drawings,
        }
        cases = [{"path": path, **same} for path in paths]
        workers = max(1, min(options.workers, len(paths)))
        outcomes = sweep.run(refresh_notebook, cases, workers=workers, what="notebooks")
    for line in [o.fault for o in outcomes if o.fault]:
        print(line, file=sys.stderr)  # first: a number may be unknown because of it
    whole = root == tree.ROOT and not (options.notebooks or options.links_only)
    try:
        pages = [*(refresh_front() if whole else ()), *refresh_links(root)]
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    for name in sorted({*pages, *(o.name for o in outcomes if o.written)}):
        print(f"wrote {name}")
    failed = sum(bool(o.fault) for o in outcomes)
    seconds = sum(o.seconds for o in outcomes)
    print(f"{len(outcomes)} notebooks in {seconds:.1f} CPU s, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
