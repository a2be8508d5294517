"""Examples in docstrings do what they say."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import stacklib

MODULES = [
    m.name
    for m in pkgutil.walk_packages(stacklib.__path__, "stacklib.")
    if not m.name.endswith("__main__")
]


@pytest.mark.rows("name", MODULES)
def test_examples_of_a_module_hold(name):
    module = importlib.import_module(name)
    # Looking through every object of a module without examples is most of the time.
    if ">>>" in Path(module.__file__).read_text("utf-8"):
        failed, _ = doctest.testmod(module)
        assert failed == 0


def test_a_wrong_example_is_caught():
    parser = doctest.DocTestParser()
    planted = parser.get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(planted, out=lambda text: None).failed == 1


def test_some_module_has_examples():
    finder = doctest.DocTestFinder()
    examples = sum(
        len(t.examples)
        for name in MODULES
        for t in finder.find(importlib.import_module(name))
    )
    assert examples >= 8
