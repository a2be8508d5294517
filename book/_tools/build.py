"""Build the book with Sphinx, warnings as errors; the log is shown on failure."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOG = ROOT / "_build" / "sphinx.log"


def start_over_if_framed_anew() -> None:
    """Drop the built book when the configuration is newer than its source pages.

    Sphinx writes a source page anew only when its module changed, and would keep
    the styles and scripts of an older configuration in it.
    """
    built = ROOT / "_build"
    pages = list((built / "html" / "_modules").rglob("*.html"))
    frame = [ROOT / "_config.yml", *(ROOT / "book" / "_ext").glob("*.py")]
    newest = max(path.stat().st_mtime for path in frame)
    if not pages or newest > min(page.stat().st_mtime for page in pages):
        shutil.rmtree(built, ignore_errors=True)


def build(builder: str = "html") -> int:
    """Run jupyter-book with ``-W``; returns its exit status."""
    start_over_if_framed_anew()
    LOG.parent.mkdir(exist_ok=True)
    run = "from jupyter_book.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        run,
        "build",
        ".",
        "--toc",
        "book/_toc.yml",
        "-W",
        "--keep-going",
    ]
    if builder != "html":
        command += ["--builder", builder]
    start = time.perf_counter()
    with LOG.open("w", encoding="utf-8") as log:
        code = subprocess.call(command, cwd=ROOT, stdout=log, stderr=log)
    seconds = time.perf_counter() - start
    if code:
        lines = LOG.read_text(encoding="utf-8").splitlines()
        faults = [x for x in lines if "WARNING" in x or "ERROR" in x]
        print("\n".join(faults or lines[-30:]))
        print(f"the book did not build; the whole log: {LOG.relative_to(ROOT)}")
    else:
        print(f"book built in {seconds:.0f} s: _build/html/index.html")
    return code


if __name__ == "__main__":
    raise SystemExit(build())
