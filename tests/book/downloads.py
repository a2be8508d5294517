"""What the tests of the downloads share: what they need, how a PDF is read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from _tools import release, release_pdf

NOT_RUN = "release tests: not run ({})"


def unavailable(why: str) -> None:
    """Skip, except in CI, where an artefact nobody opens is a failure."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(NOT_RUN.format(why))
    pytest.skip(NOT_RUN.format(why))


def built_book() -> Path:
    """The built book, or a skip."""
    if not (release.BUILT / "index.html").exists():
        unavailable("no built book; run `make book`")
    return release.BUILT


def chromium_path() -> str:
    """A Chromium, or a skip."""
    pytest.importorskip("playwright.sync_api", reason=NOT_RUN.format("no playwright"))
    return release_pdf.chromium() or unavailable("no Chromium")


def text_of(pdf: bytes, tmp_path: Path) -> list[str]:
    """The text of each page."""
    if shutil.which("pdftotext") is None:
        pytest.skip("text of the PDF: not run (no pdftotext)")
    path = tmp_path / "printed.pdf"
    path.write_bytes(pdf)
    done = subprocess.run(
        ["pdftotext", "-layout", str(path), "-"],
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().split("\f")[:-1]
