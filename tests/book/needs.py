"""What a test needs of the machine: without it the test is skipped, in CI it fails."""

import os
from pathlib import Path

import pytest

BUILT = Path(__file__).parents[2] / "_build" / "html"


def unavailable(why: str, tests: str = "browser") -> None:
    """Skip, except in CI, where what does not run is a failure."""
    said = f"{tests} tests: not run ({why})"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(said)
    pytest.skip(said)


def built_book(page: str = "index.html", tests: str = "browser") -> Path:
    """The built book, or a skip."""
    if not (BUILT / page).exists():
        unavailable("no built book; run `make book`", tests)
    return BUILT
