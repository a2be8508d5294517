"""Parameters with one meaning have one explanation, and the API pages show it."""

import inspect
from collections import Counter
from functools import partial

import pytest
from _ext import shared_parameters
from _ext.shared_parameters import glossary
from _tools import docs

shown = partial(shared_parameters.explain, None)


@pytest.fixture(scope="module")
def taken() -> Counter:
    """How many public functions take a parameter of each name."""
    rooms = map(docs.room_of, docs.rooms())
    offered = {name: thing for room in rooms for name, thing in docs.offered(room)}
    functions = (thing for thing in offered.values() if not inspect.isclass(thing))
    return Counter(name for f in functions for name in docs.parameters(f))


def test_the_page_has_a_row_for_about_thirty():
    assert 25 <= len(glossary()) <= 40
    assert glossary()["batch"][0] == "sequences"


def test_each_is_taken_by_two_public_functions_or_more(taken):
    rare = [name for name in glossary() if taken[name] < 2]
    assert rare == [], f"{shared_parameters.PAGE}: fewer than two functions take {rare}"


def shared(on, batch: int = 1) -> float:
    """Seconds of a step."""
    return batch


def described(on, batch):
    return batch


described.__doc__ = """Seconds of a step of ``batch`` sequences.

    Parameters
    ----------
    on : str
        Whose step.

    Raises
    ------
    ValueError
        Never.
    """


def lines(function) -> list[str]:
    doc = inspect.getdoc(function).splitlines()
    shown("function", "f", function, None, doc)
    return doc


def test_an_api_page_shows_the_words_as_a_link_and_what_comes_back():
    unit, words = glossary()["batch"]
    doc = lines(shared)
    assert doc[0] == "Seconds of a step."
    at = doc.index("Parameters")
    assert doc[at + 2].startswith("on : ")
    assert doc[at + 4 : at + 6] == [
        f"batch : {unit}",
        f"    `{words} <parameters.html#batch>`__",
    ]
    assert doc[doc.index("Returns") + 2] == "float"


def test_what_a_docstring_says_itself_stays():
    assert lines(described) == inspect.getdoc(described).splitlines()


def test_a_section_takes_its_place_among_others():
    doc = ["One.", "", "Raises", "------", "ValueError", "    Never."]
    shared_parameters.insert(doc, "Parameters", ["on"])
    shared_parameters.insert(doc, "Parameters", ["dtype"])
    assert doc[2:7] == ["Parameters", "----------", "on", "dtype", ""]
    assert doc[7] == "Raises"


def test_entries_stand_in_the_order_of_the_signature():
    doc = ["One.", "", "Parameters", "----------", "size : int", "    Bytes.", "on", ""]
    shared_parameters.arrange(doc, ["on", "size"])
    assert doc[4:] == ["on", "size : int", "    Bytes.", ""]
