"""What the tests of the downloads share: what they need, how a PDF is read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from _tools import release_pdf

from .needs import unavailable


def chromium_path() -> str:
    """A Chromium, or a skip."""
    pytest.importorskip("playwright.sync_api", reason="release tests: no playwright")
    return release_pdf.chromium() or unavailable("no Chromium", "release")


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
