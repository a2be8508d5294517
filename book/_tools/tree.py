"""Where things stand in the repo: notebooks, pages, exercises."""

import os
import subprocess
import tempfile
import tomllib
from pathlib import Path

from nbformat import NotebookNode, v4

ROOT = Path(__file__).resolve().parents[2]
SKIP = {"_build", "vendor", "node_modules", ".ipynb_checkpoints", "__pycache__"}


def find(root: Path, folder: str, pattern: str) -> list[Path]:
    """Files under `root/folder` that match `pattern`; nothing built or vendored."""
    found = sorted((root / folder).rglob(pattern))
    return [p for p in found if not SKIP & set(p.relative_to(root).parts)]


def notebooks(root: Path = ROOT) -> list[Path]:
    """Every notebook of the book."""
    return find(root, "chapters", "*.ipynb") + find(root, "book", "*.ipynb")


def pages(root: Path = ROOT) -> list[Path]:
    """Every Markdown page a reader sees, the README among them."""
    readme = [p for p in [root / "README.md"] if p.exists()]
    return readme + find(root, "book", "*.md") + find(root, "chapters", "*.md")


def exercises(root: Path = ROOT) -> list[Path]:
    """The exercises: each file holds question, answer and tests."""
    return sorted((root / "exercises").glob("[0-9]*/*.py"))


def name(path: Path, root: Path = ROOT) -> str:
    """The path as messages print it: relative to the repo, with forward slashes."""
    return path.resolve().relative_to(root.resolve()).as_posix()


def chapter_of(path: Path) -> int | None:
    """3 for anything under `chapters/03-memory` or `exercises/03-memory`."""
    for part in path.parts:
        if part[:2].isdigit() and part[2:3] == "-":
            return int(part[:2])
    return None


def read_toml(path: Path) -> dict:
    """The table in `path`, empty where the file is missing."""
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in nbformat 4; nobody waits here for its schema to be checked."""
    return v4.reads(path.read_text("utf-8"))


def write_atomic(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, so that no crash leaves half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".new")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
        out.write(text)
    if path.exists():
        os.chmod(temporary, path.stat().st_mode & 0o777)
    else:
        os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def git(root: Path, *words: str) -> str | None:
    """What git prints, or None where git or the repository is missing or says no."""
    command = ["git", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout
