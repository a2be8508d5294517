"""The book's exercises as they ship, whatever a reader has answered."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

BOOK = Path(__file__).parents[1]


def git(root: Path, *arguments: str) -> str | None:
    """What git prints, or None where it does not answer."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def answered(root: Path) -> list[str]:
    """Exercises that a reader has changed while their solution stayed as it was."""
    changed = git(root, "diff", "--name-only", "HEAD", "--", "exercises") or ""
    paths = [Path(name) for name in changed.split()]
    return [
        str(p)
        for p in paths
        if len(p.parts) == 3 and p.parent / "solutions" / p.name not in paths
    ]


def as_shipped(root: Path, folder: Path) -> Path:
    """The checkout, or a copy of its exercises without the reader's answers."""
    own = answered(root)
    if not own:
        return root
    shutil.copytree(root / "exercises", folder / "exercises")
    for name in own:
        (folder / name).write_text(git(root, "show", f"HEAD:{name}") or "", "utf-8")
    return folder
