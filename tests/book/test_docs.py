"""What is public is documented and shown; what is not says it in a sentence."""

import importlib
import re

import pytest
from _tools import chapter_code, docs, tree

from stacklib import roofline


def test_every_public_name_is_documented_and_shown():
    faults = docs.faults()
    assert faults == [], "\n".join(faults)


def bare(size) -> int:
    return size


def undescribed(size, batch) -> int:
    """Seconds a step takes."""
    return size * batch


def described(size, batch) -> int:
    """Seconds a step of ``size`` bytes takes."""
    return size * batch


def sectioned(size, often) -> int:
    return size * often


sectioned.__doc__ = """Seconds a step takes.

    Parameters
    ----------
    size, often : int
        Bytes, and how many times.
    """


def silent(size) -> int:
    """Seconds a step of ``size`` bytes takes."""
    if size < 1:
        raise ValueError(f"size = {size}")
    return size


def loud(size) -> int:
    """Seconds a step of ``size`` bytes takes; ValueError below one."""
    if size < 1:
        raise ValueError(f"size = {size}")
    return size


def untyped(size):
    """Seconds a step of ``size`` bytes takes."""
    return size


def test_a_planted_fault_is_named():
    assert list(docs.thing_faults("bare", bare)) == ["bare has no docstring"]
    assert list(docs.thing_faults("undescribed", undescribed)) == [
        "undescribed takes size and does not say what that is"
    ]
    assert list(docs.thing_faults("silent", silent)) == [
        "silent raises ValueError and does not say so"
    ]
    assert list(docs.thing_faults("untyped", untyped)) == [
        "untyped has no annotation of what it returns, and no section Returns"
    ]


def test_what_is_documented_passes():
    for function in (described, sectioned, loud):
        assert list(docs.thing_faults("f", function)) == []


def test_a_made_up_dataclass_signature_is_no_docstring():
    made_up = type("Row", (), {"__doc__": "Row(batch: int)"})
    assert docs.own_doc(made_up) == ""


def test_a_room_without_a_page_is_named(tmp_path):
    assert docs.page_faults("roofline", tmp_path) == [
        "book/api/roofline.md does not exist; it should show stacklib.roofline"
    ]
    (tmp_path / "book" / "api").mkdir(parents=True)
    page = tmp_path / "book" / "api" / "roofline.md"
    page.write_text("# Roofline")
    assert docs.page_faults("roofline", tmp_path) == [
        "book/api/roofline.md does not show stacklib.roofline"
    ]
    page.write_text("```{automodule} stacklib.roofline\n```")
    assert docs.page_faults("roofline", tmp_path) == []


WORDY = '''
class Shelf:
    """Where things stand."""

    def place(self, name):
        """The place of a thing.

        {section}
        {rule}
        name : str
        """
'''


@pytest.mark.parametrize("section", ["Parameters", "Returns", "Raises", "Attributes"])
def test_a_section_of_what_is_not_public_is_named_with_its_place(tmp_path, section):
    path = tmp_path / "stacklib" / "memory" / "shelf.py"
    path.parent.mkdir(parents=True)
    path.write_text(WORDY.format(section=section, rule="-" * len(section)))
    assert list(docs.section_faults(path, set(), tmp_path)) == [
        f"stacklib/memory/shelf.py:5: Shelf.place is not public and has a section "
        f"{section}; one sentence, and the equation if it has one"
    ]
    public = {"stacklib.memory.shelf.Shelf.place"}
    assert list(docs.section_faults(path, public, tmp_path)) == []


def test_public_are_a_rooms_names_and_their_open_members():
    places = docs.places()
    home = roofline.Work.__module__
    assert {f"{home}.Work", f"{home}.Work.intensity"} <= places
    assert not any(place.rsplit(".", 1)[1].startswith("_") for place in places)


def test_the_line_of_a_chapter_names_sections_of_its_rooms(monkeypatch):
    named = "stacklib/memory/shelf.py:5: Shelf.place is not public and has a section"
    monkeypatch.setattr(docs, "wordy", lambda root, folders: [named])
    assert named in chapter_code.documented(3, docs.tree.ROOT).missing


def unknown(text: str) -> list[str]:
    """Members that a page of the package names and the module does not have."""
    named = re.findall(r"automodule:: (\S+)\n\s+:members: (.+)", text)
    rows = [(m, name.strip()) for m, names in named for name in names.split(",")]
    return [f"{m}.{n}" for m, n in rows if not hasattr(importlib.import_module(m), n)]


def test_pages_of_the_package_name_what_there_is():
    pages = tree.find(tree.ROOT, "book/api", "*.md")
    assert [name for page in pages for name in unknown(page.read_text("utf-8"))] == []
    planted = ".. automodule:: stacklib.roofline\n   :members: ridge, rigde\n"
    assert unknown(planted) == ["stacklib.roofline.rigde"]
