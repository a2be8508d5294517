"""No module is too long to be read at one sitting."""

from pathlib import Path

import pytest
from _tools import size

ROOM = '''"""A room
of two lines."""

# Why.
TEXT = """a

# b"""  # c


def f():
    """One line."""
    return 1
'''


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A room of one module, in a tree of its own."""
    folder = tmp_path / "stacklib" / "room"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(ROOM)
    return folder


def test_no_module_is_over_the_limit():
    assert size.faults() == []


def test_the_formatter_has_few_exceptions():
    marked = [path.read_text().count("# fmt: " + "skip") for path in size.modules()]
    assert sum(marked) < 50


def test_a_long_module_is_named(room: Path):
    (room / "fits.py").write_text("x = 1\n" * 500)
    (room / "long.py").write_text("x = 1\n" * 501)
    assert size.faults(room.parents[1]) == [
        "stacklib/room/long.py: 501 lines; at most 500, split by idea"
    ]


def test_lines_are_told_apart_by_what_they_are(room: Path):
    """A comment inside a text is no comment, and a blank in one is no blank."""
    *_, last, apart = size.by_room(room.parents[1]).splitlines()
    assert last.split() == ["all", "12", "5", "3", "1", "3", "1", "3", "3"]
    assert apart == "11 lines, comments apart"


def test_the_largest_module_of_a_folder_is_named(room: Path):
    (room / "inside").mkdir()
    (room / "inside" / "b.py").write_text("x = 1\n")
    (room / "inside" / "c.py").write_text("x = 1\n" * 3)
    rows = [row.split() for row in size.by_folder(room.parents[1]).splitlines()[1:]]
    assert rows == [
        ["stacklib/room", "1", "12", "12", "a.py"],
        ["stacklib/room/inside", "2", "2", "3", "c.py"],
    ]
