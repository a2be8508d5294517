"""The zips and the wheel of a release, equal bytes for equal sources."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from _tools import layers, tree
from _tools.readme import python
from _tools.said import FRONT as SAID

# The oldest date a zip can hold, in both spellings.
DATE = (1980, 1, 1, 0, 0, 0)
EPOCH = "315532800"
LICENCES = ("LICENSE", "LICENSE-TEXT.md")
# Extras of the package that the README's line installs; two notebooks need more.
EXTRAS = ("fast", "plots", "sim")
TORCH = """\
> **The cells of this notebook that run PyTorch need it**, and the line in README.txt
> leaves it out, as it is several gigabytes on Linux: `python3 -m pip install torch`, or
> the CPU build from PyTorch's *Get started* page. Without it they stop and say so.
> What is stored here came from a run with it."""
# What the package's build reads, beside the package.
WHEEL_SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
MEASURED = ("benchmarks/results", "benchmarks/predictions")


class ReleaseError(RuntimeError):
    """An artefact cannot be made; says which, and what to do."""


def write_zip(goal: Path, folder: str, members: Mapping[str, bytes | Path]) -> Path:
    """Zip `members` (name to content, or to the file that holds it) under `folder`."""
    with zipfile.ZipFile(goal, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in sorted(members.items()):
            info = zipfile.ZipInfo(f"{folder}/{name}", date_time=DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, wherever it was made
            info.external_attr = 0o100644 << 16
            data = content.read_bytes() if isinstance(content, Path) else content
            out.writestr(info, data)
    return goal


def under(root: Path, files: Iterable[Path]) -> dict[str, bytes | Path]:
    """`files` by their path below `root`."""
    return {path.relative_to(root).as_posix(): path for path in files}


def licences(root: Path) -> dict[str, bytes | Path]:
    """The two licences: of the code, and of text and figures."""
    return under(root, (root / name for name in LICENCES))


def text(lines: str) -> bytes:
    """A README of `lines`, its indentation taken off."""
    return textwrap.dedent(lines).lstrip().encode()


# ---- the book ----


def book_zip(built: Path, goal: Path, folder: str, root: Path = tree.ROOT) -> Path:
    """The built book, and how to serve it."""
    files = (p for p in built.rglob("*") if p.is_file() and p.name != ".buildinfo")
    readme = text(f"""
        {folder}: the book as web pages

        Serve this folder, then open the address:

            python3 -m http.server --bind 127.0.0.1 8000
            http://127.0.0.1:8000/

        Nothing is loaded from anywhere else, so no network is needed. Opened as
        files, without a server, the pages read well, but what runs Python in the
        page does not start.

        Code: MIT (LICENSE). Text, figures, exercises: CC BY 4.0 (LICENSE-TEXT.md).
        """)
    members = {**under(built, files), **licences(root), "README.txt": readme}
    return write_zip(goal, folder, members)


# ---- the wheel ----


def wheel_sources(root: Path, goal: Path) -> None:
    """Copy what the wheel is made of: pip builds in place, and finds older builds."""
    for name in WHEEL_SOURCES:
        if not (root / name).exists():
            raise ReleaseError(f"the wheel needs {name}, and {root} has none")
        shutil.copy(root / name, goal / name)
    ignored = shutil.ignore_patterns("__pycache__", "*.py[co]")
    for name in ("stacklib", *MEASURED):
        shutil.copytree(root / name, goal / name, ignore=ignored)


def wheel(goal: Path, root: Path = tree.ROOT) -> Path:
    """Build the wheel of `stacklib` into folder `goal`, without a network."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    options += ["--disable-pip-version-check", "--wheel-dir", str(goal)]
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        wheel_sources(root, Path(folder))
        done = subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *options, folder],
            capture_output=True,
            text=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
        )
    made = sorted(goal.glob("stacklib-*.whl"))
    if done.returncode or not made:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise ReleaseError(f"pip wheel failed (exit {done.returncode}):\n{tail}")
    return made[-1]


# ---- the notebooks ----


def notebook_files(root: Path) -> list[Path]:
    """The notebooks, what other pages say, and the exercises."""
    return [
        *tree.notebooks(root),
        root / SAID,
        root / "exercises" / "README.md",
        *tree.exercises(root),
    ]


def runs_torch(notebook: Path, root: Path = tree.ROOT) -> bool:
    """Whether a module that a notebook names imports torch's side of its page."""
    cells = tree.read_notebook(notebook).cells
    code = "\n".join(c.source for c in cells if c.cell_type == "code")
    named = {m for i in layers.imports(code, "notebook", False) for m in i.modules}
    places = [root / module.replace(".", "/") for module in named]
    files = [f for p in places for f in (p.with_suffix(".py"), p / "__init__.py")]
    return any(
        imported.module.endswith("_torch")
        for file in files
        if file.is_file()
        for imported in layers.imports(*layers.described(file, root))
    )


def shipped(notebook: Path, root: Path = tree.ROOT) -> bytes:
    """A notebook as it is in the zip: its first cell says what else it needs."""
    text = notebook.read_text("utf-8")
    if not runs_torch(notebook, root):
        return text.encode()
    held = json.loads(text)
    cell = {"cell_type": "markdown", "id": "needs-torch", "metadata": {}}
    held["cells"].insert(0, {**cell, "source": TORCH.splitlines(keepends=True)})
    return (json.dumps(held, indent=1, ensure_ascii=False) + "\n").encode()


def notebooks_zip(
    package: Path, goal: Path, folder: str, root: Path = tree.ROOT
) -> Path:
    """Notebooks, exercises and the wheel they run against, our measurements in it."""
    readme = text(f"""
        {folder}

        {python(root)}. In this folder:

            python3 -m pip install "./{package.name}[{",".join(EXTRAS)}]" jupyterlab
            python3 -m jupyter lab chapters

        A notebook that needs more says so in its first cell. Simulators are compiled
        when first used, which takes up to a minute, once.

        `stacklib start`, run here, writes your copies of the exercises into my/;
        `stacklib check 1.1` grades the first. exercises/ holds them with their
        answers.

        Code: MIT (LICENSE). Text, figures, exercises: CC BY 4.0 (LICENSE-TEXT.md).
        """)
    members = {**under(root, notebook_files(root)), **licences(root)}
    members |= {tree.name(p, root): shipped(p, root) for p in tree.notebooks(root)}
    members |= {package.name: package, "README.txt": readme}
    return write_zip(goal, folder, members)
