"""What was solved in a checkout, kept beside the copies in its ``my/``."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stacklib.grading.report import Result


def place(root: Path) -> Path:
    """The file of a checkout: two checkouts on one machine share nothing."""
    return root / "my" / ".progress.json"


def former() -> Path:
    """Where earlier editions kept one file for all checkouts of a user."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG rule: a relative path is no path.
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "stacklib" / "progress.json"


def load(path: Path) -> dict[str, dict[str, Any]]:
    """What is known by exercise id: ``state``, ``checked`` and ``solved`` (dates).

    A file that cannot be understood is renamed, not lost, and nothing is known.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        exercises = json.loads(text)["exercises"]
        if all(isinstance(e, dict) for e in exercises.values()):
            return exercises
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    set_aside(path)
    return {}


def set_aside(path: Path) -> Path:
    """Rename a damaged file to the first free ``.progress.damaged-N.json``."""
    number = 1
    while (free := path.with_name(f"{path.stem}.damaged-{number}.json")).exists():
        number += 1
    path.rename(free)
    return free


def record(results: Iterable[Result], path: Path) -> None:
    """Note the results; the first day an exercise passed is kept for good."""
    known = load(path)
    today = datetime.now(UTC).date().isoformat()
    for result in results:
        entry = {**known.get(result.id, {}), "state": result.state, "checked": today}
        if result.passed:
            entry.setdefault("solved", today)
        known[result.id] = entry
    write(path, json.dumps({"exercises": known}, indent=1) + "\n")


def write(path: Path, text: str) -> None:
    """Write a file so that it is whole, old or new, at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".new")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, name)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
