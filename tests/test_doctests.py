"""Examples in docstrings do what they say."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import stacklib

# `_cocotb`, `_onnx`: of extras, which need not be there.
MODULES = [
    m.name
    for m in pkgutil.walk_packages(stacklib.__path__, "stacklib.")
    if not m.name.endswith(("__main__", "_cocotb", "_onnx"))
]


@pytest.mark.rows("name", MODULES)
def test_a_module_can_be_imported(name):
    importlib.import_module(name)


def with_examples():
    """Looking through every object of the others would be most of the time."""
    modules = map(importlib.import_module, MODULES)
    return [m for m in modules if ">>>" in Path(m.__file__).read_text("utf-8")]


def held(module):
    """As ``doctest.testmod``, which begins a debugger for docstrings without any."""
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder().find(module):
        if test.examples:
            runner.run(test)
    return runner.summarize(verbose=False)


def test_examples_hold():
    tried = {m.__name__: held(m) for m in with_examples()}
    assert sum(result.attempted for result in tried.values()) >= 8
    assert {name for name, result in tried.items() if result.failed} == set()


def test_a_wrong_example_is_caught():
    parser = doctest.DocTestParser()
    planted = parser.get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(planted, out=lambda text: None).failed == 1
