"""Mutants are drawn by a seed; a strong test kills them, a weak one does not."""

import ast
import itertools
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from _tools import mutants, tree

MODULE = '''
def strong(n: int = 3) -> int:
    """Twice three is 6."""
    return 2 * n


def weak(n: int) -> str:
    return f"{n + 1}" if n > 2 and n < 9 else "no"


def same(n: int) -> int:
    return n + 0
'''
TESTS = """
from stacklib.models import area

def test_all():
    assert area.strong() == 6 and area.weak(5) and area.same(1)
"""
SAME = ("n + 0 -> n - 0", "0 -> 1", "0 -> -1")
FILE = "stacklib/models/area.py"


def planted(folder: Path) -> Path:
    equivalent = "\n".join([f'["{FILE}:same"]', *(f'"{c}" = ""' for c in SAME)])
    for name, text in {
        "stacklib/__init__.py": "",
        "stacklib/models/__init__.py": "",
        FILE: MODULE,
        "tests/models/test_area.py": TESTS,
        mutants.EQUIVALENT: equivalent,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_what_survives_is_what_no_test_says(tmp_path: Path):
    root = planted(tmp_path)
    call = "from _tools.mutants import *; sys.exit(main(['--seed', '3'], Path()))"
    done = subprocess.run(
        [sys.executable, "-c", call],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(tree.ROOT / "book")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, *judged, room, last = done.stdout.splitlines()
    assert first == "2 mutants, seed 3"
    strong, weak = judged
    assert (
        strong.startswith("tests/models/test_area.py::test_all") and "strong" in strong
    )
    assert weak.startswith("SURVIVED") and " weak: " in weak
    assert room.split() == ["models", "1", "of", "2"]
    assert last == "killed 1 of 2, 1 by the nearest tests"


def test_every_operator_comparison_and_constant_is_changed(tmp_path: Path):
    root = planted(tmp_path)
    found = {m.function: [] for m in mutants.mutants(FILE, root)}
    for mutant in mutants.mutants(FILE, root):
        found[mutant.function].append(mutant.change)
        ast.parse(mutant.source((root / FILE).read_bytes()))
    assert sorted(found["strong"]) == sorted(
        ["3 -> 4", "3 -> 2", "2 * n -> 2 / n", "2 -> 3", "2 -> 1"]
    )
    both, turned = "n > 2 and n < 9", ("n > 2 -> n >= 2", "n > 2 -> n < 2")
    assert {f"{both} -> n > 2 or n < 9", *turned, "9 -> 8"} < set(found["weak"])
    assert not any("n + 1" in change for change in found["weak"])  # text is no number
    assert tuple(found["same"]) == SAME


def test_a_draw_is_its_seed(tmp_path: Path):
    root = planted(tmp_path)
    draws = [mutants.draw(root, seed, 9, ["models"]) for seed in range(20)]
    assert draws[5][0].change == mutants.draw(root, 5, 9, ["models"])[0].change
    assert all([m.function for m in d] == ["strong", "weak"] for d in draws)
    assert len({d[0].change for d in draws}) > 3


def test_an_endless_loop_ends():
    assert mutants.forked(lambda: all(itertools.count(1)), 1)[0] is None
    assert mutants.forked(lambda: ["x"], 9)[0] == ["x"]


def test_what_is_said_to_change_nothing_is_still_there():
    known = tomllib.loads((tree.ROOT / mutants.EQUIVALENT).read_text())
    for place, said in known.items():
        file, function = place.split(":")
        there = [m for m in mutants.mutants(file, tree.ROOT) if m.function == function]
        assert set(said) <= {m.change for m in there}, place
        assert all(said.values())
