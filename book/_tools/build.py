"""Build the book with Sphinx, warnings as errors; the log is shown on failure.

Nothing is built when nothing that the build reads has changed, nor what it wrote.
"""

import gc
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from _tools import tree

ROOT = tree.ROOT
BUILT = ROOT / "_build"
LOG = BUILT / "sphinx.log"
STAMP = BUILT / "built.json"
# Top folders that no page is made from.
APART = ("_build", "dist", "my", "node_modules", "runs", "tests")

# Sets print in one order; a product takes no core from the other process's pages.
ALIKE = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
SPHINX = "from _tools.build import sphinx; raise SystemExit(sphinx())"
STEP = re.compile(r"(reading sources|writing output|highlighting module code)\.\.\.")
PERCENT = re.compile(r"\[ *(\d+)%")
# Share of the whole time that has gone when a step begins and ends.
STEPS = {
    "reading sources": (0.05, 0.55),
    "writing output": (0.60, 0.80),
    "highlighting module code": (0.80, 0.90),
}
EVERY = 20  # seconds between two lines where the output is no terminal


# ---- whether there is anything to do ----


def sources() -> Iterator[Path]:
    """Every file that the build may read, in a fixed order."""
    for top in sorted(ROOT.iterdir()):
        if top.is_file():
            yield top
        elif not top.name.startswith(".") and top.name not in APART:
            found = (path for path in sorted(top.rglob("*")) if path.is_file())
            yield from (path for path in found if "__pycache__" not in path.parts)


def state() -> dict[str, str]:
    """Digests of what the build reads, and of the names and dates of what it wrote."""
    read = hashlib.sha256(sys.version.encode())
    for path in sources():
        read.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    wrote = hashlib.sha256()
    for path in sorted((BUILT / "html").rglob("*")):
        found = path.stat()
        wrote.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return {"read": read.hexdigest(), "wrote": wrote.hexdigest()}


def start_over_if_framed_anew() -> None:
    """Drop the built book when the configuration is newer than its source pages.

    Sphinx writes a source page anew only when its module changed, and would keep
    the styles and scripts of an older configuration in it.
    """
    pages = list((BUILT / "html" / "_modules").rglob("*.html"))
    frame = [ROOT / "_config.yml", *(ROOT / "book" / "_ext").glob("*.py")]
    newest = max(path.stat().st_mtime for path in frame)
    if not pages or newest > min(page.stat().st_mtime for page in pages):
        shutil.rmtree(BUILT, ignore_errors=True)


# ---- building ----


def processes() -> int:
    """How many read and write pages: one a core where a process can be forked.

    On macOS a fork may be killed for what its parent's libraries had begun.
    """
    if (
        sys.platform == "darwin"
        or "fork" not in multiprocessing.get_all_start_methods()
    ):
        return 1
    allowed = getattr(os, "sched_getaffinity", None)
    return min(8, len(allowed(0)) if allowed else os.cpu_count() or 1)


def sphinx() -> int:
    """Run Sphinx in this process, as ``jupyter-book build -W --keep-going`` does."""
    from jupyter_book.sphinx import build_sphinx

    # A page is a tree whose nodes know their parents. To look for those that nobody
    # holds any more takes a fifth of the time; to keep them, some hundred megabytes.
    gc.disable()
    status = build_sphinx(
        ROOT,
        BUILT / "html",
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides={
            "external_toc_path": "book/_toc.yml",
            "latex_individualpages": False,
        },
        warningiserror=True,
        keep_going=True,
        jobs=processes(),
    )
    return status if isinstance(status, int) else 1


def progress(lines: Iterable[str], begun: float) -> Iterator[str]:
    """Minutes that are left, said now and then, from what Sphinx prints."""
    said = begun
    for line in lines:
        step, percent = STEP.search(line), PERCENT.search(line)
        now = time.monotonic()
        if not (step and percent) or now - said < (1 if sys.stdout.isatty() else EVERY):
            continue
        said = now
        first, last = STEPS[step[1]]
        done = first + (last - first) * int(percent[1]) / 100
        left = (now - begun) * (1 - done) / done / 60
        yield f"book: {step[1]}, {done:.0%} done, {max(left, 0.1):.1f} minutes left"


def logged(lines: Iterable[str]) -> Iterator[str]:
    """The same lines, written to the log as they come."""
    with LOG.open("w", buffering=1, encoding="utf-8") as log:
        for line in lines:
            log.write(line)
            yield line


def build() -> int:
    """Build what is not built; returns Sphinx's exit status."""
    before = state()
    if STAMP.exists() and json.loads(STAMP.read_text()) == before:
        print("book up to date: _build/html/index.html")
        return 0
    start_over_if_framed_anew()
    BUILT.mkdir(exist_ok=True)
    STAMP.unlink(missing_ok=True)
    begun = time.monotonic()
    running = subprocess.Popen(
        [sys.executable, "-c", SPHINX],
        cwd=ROOT,
        env={**os.environ, **ALIKE},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert running.stdout is not None  # a pipe
    begin, end = ("\r\x1b[K", "") if sys.stdout.isatty() else ("", "\n")
    for line in progress(logged(running.stdout), begun):
        print(f"{begin}{line}", end=end, flush=True)
    print(end=begin)
    if running.wait():
        lines = LOG.read_text(encoding="utf-8").splitlines()
        faults = [x for x in lines if "WARNING" in x or "ERROR" in x]
        print("\n".join(faults or lines[-30:]))
        print(f"the book did not build; the whole log: {LOG.relative_to(ROOT)}")
        return 1
    STAMP.write_text(json.dumps({**state(), "read": before["read"]}) + "\n")
    print(f"book built in {time.monotonic() - begun:.0f} s: _build/html/index.html")
    return 0


if __name__ == "__main__":
    raise SystemExit(build())
