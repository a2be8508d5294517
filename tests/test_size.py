"""No module is too long to be read at one sitting; the sizes are printed."""

from pathlib import Path

from _tools import size


def test_no_module_is_over_the_limit():
    print(size.table())
    assert size.faults() == []


def test_a_long_module_is_named(tmp_path: Path):
    room = tmp_path / "stacklib" / "room"
    room.mkdir(parents=True)
    (room / "fits.py").write_text("x = 1\n" * 500)
    (room / "long.py").write_text("x = 1\n" * 501)
    assert size.faults(tmp_path) == [
        "stacklib/room/long.py: 501 lines; at most 500, split by idea"
    ]


def test_the_table_counts_lines_and_functions(tmp_path: Path):
    room = tmp_path / "stacklib" / "room"
    room.mkdir(parents=True)
    (room / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    last = size.table(tmp_path).splitlines()[-1].split()
    assert last == ["all", "6", "1", "6", "6", "2", "2", "2"]
