"""A room offers what a user starts with; the rest is imported from its modules."""

import importlib
import inspect
import subprocess
import sys

import pytest
from _tools import coverage_map, docs, tree

NAMES = 24
HOMES = {r: tree.ROOT / "stacklib" / r / "__init__.py" for r in docs.rooms()}
PACKAGES = [room for room, home in HOMES.items() if home.exists()]
LAZY = [r for r in PACKAGES if "offer(__name__)" in HOMES[r].read_text("utf-8")]


@pytest.mark.rows("name", HOMES)
def test_a_room_offers_few_names_and_all_are_there(name: str):
    room = importlib.import_module(f"stacklib.{name}")
    many = len(room.__all__)
    assert sorted(room.__all__) == dir(room)
    assert many <= NAMES, f"{name} offers {many} names"
    for offered in room.__all__:
        coverage_map.resolve(f"stacklib.{name}.{offered}")


def ismodule(room, name: str) -> bool:
    return inspect.ismodule(getattr(room, name))


@pytest.mark.rows("name", LAZY)
def test_no_offered_name_is_that_of_a_module(name: str):
    """Importing the module would put it in the place of what is offered."""
    room = importlib.import_module(f"stacklib.{name}")
    modules = {path.stem for path in HOMES[name].parent.iterdir()}
    assert not [n for n in room.__all__ if n in modules and not ismodule(room, n)]


def test_what_is_not_offered_is_refused_with_what_is():
    with pytest.raises(ImportError, match="cannot import name 'hit_curve'"):
        from stacklib.memory import hit_curve  # noqa: F401
    memory = importlib.import_module("stacklib.memory")
    with pytest.raises(AttributeError, match=r"offers no 'hit_curve' but Cache, .*"):
        memory.hit_curve  # noqa: B018


def test_a_room_loads_only_what_is_used():
    code = (
        "import sys; from stacklib import memory; memory.sectors\n"
        "assert 'stacklib.memory.warp.coalescing' in sys.modules\n"
        "assert not {'stacklib.memory.cache', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
