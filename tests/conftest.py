"""What holds for every test, and the last line of every run.

A check that could not run here skips with "<what>: not run (<why>)"; those reasons
are repeated after everything else, where nobody overlooks them, and what was skipped
for another reason is counted there.
"""

import gc
import io
import os
import re
import zipfile
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings

from stacklib import pages

from . import rows

os.environ["STACKLIB_THIS_MACHINE"] = "book"
# A property says nothing of time: on a busy machine an example may take any. CI tries
# the same examples every time, so that what it refuses is the change; others draw anew.
settings.register_profile(
    "book",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
# Twice as many cheap cases of one kind kill no more mutants: `make test-all` has them.
settings.register_profile("quick", settings.get_profile("book"), max_examples=40)
settings.load_profile("book")
NOT_RUN = re.compile(r"[\w -]+: not run \([^)]*\)")
# Files that judge the whole ledger. Forks share what is judged before they start.
JUDGING = ("test_claims", "test_claims_page")
REASON = re.compile(r"Skipped: (.+?)['\"]?[)\]]?$", re.S)
_not_run: dict[str, None] = {}
_besides: Counter[str] = Counter()


def not_run(reason: str) -> str:
    """The part of a skip reason that says what was not run, and why."""
    found = NOT_RUN.search(reason)
    return found[0].removeprefix("Skipped: ").strip() if found else ""


def pytest_configure(config: pytest.Config) -> None:
    """Know ``pytest.mark.rows``; try fewer examples where slow tests are left out."""
    config.pluginmanager.register(rows)
    gc.disable()  # while files are read, what is made is kept
    if config.getoption("markexpr") == "not slow":
        settings.load_profile("quick")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays to the end: no need to walk it again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(200_000, 50, 50)
    judging = {item.path for item in session.items if item.path.stem in JUDGING}
    if session.config.getoption("workers", 1) > 1 and len(judging) > 1:
        with suppress(Exception):  # a check that breaks is the tests' to tell
            pages.claims()
        gc.collect()
        gc.freeze()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what skipped."""
    text = str(report.longrepr) if report.skipped else ""
    if said := not_run(text):
        _not_run[said] = None
    elif why := REASON.search(text):
        _besides[why[1]] += 1


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Remember a file that skipped as a whole."""
    pytest_runtest_logreport(report)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Print what was not run, after the last line of pytest itself."""
    if not hasattr(config, "workerinput"):
        besides = "; ".join(f"{why} ({n})" for why, n in _besides.most_common())
        told = [*_not_run, *([f"skipped besides: {besides}"] if besides else [])]
        print(*told, sep="\n", end="\n" * bool(told))
        _not_run.clear()
        _besides.clear()


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory) -> str:
    """The folder of all that Python in the page has: no checkout around it."""
    from _tools import vendor

    folder = tmp_path_factory.mktemp("browser")
    packed = vendor.archive(vendor.ROOT / "stacklib")
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        opened.extractall(folder)
    return str(folder)
