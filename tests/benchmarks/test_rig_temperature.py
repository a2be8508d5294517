"""The curve's benchmark: scipy's degrees are ours, and the stored rows hold."""

import importlib
import json
from pathlib import Path

import host_power
import pytest
import record

bench = importlib.import_module("rig_temperature")


def test_scipy_ends_at_the_same_degrees():
    pytest.importorskip("scipy")
    build, told = bench.built("six at 193 W")
    ours = bench.temperature(build, bench.HOURS, **told)
    theirs = bench.by_scipy(build, **told)
    assert ours.held and len(theirs) == len(ours.times)
    for at in (1, 60, -1):
        degrees = (part[at] for part in (ours.die, ours.sink, ours.case, ours.room))
        assert tuple(degrees) == pytest.approx(tuple(theirs[at]), abs=0.2)


def test_the_stored_rows_are_of_every_case():
    path = Path(record.__file__).parent / "results/rig_temperature.json"
    rows = json.loads(path.read_text())["rows"]
    assert [row["id"] for row in rows] == list(bench.CASES)
    assert all(row["off_k"] <= 0.2 for row in rows)
    assert any(row["held_s"] for row in rows) and not rows[0]["held_s"]


def counters(root, **packages):
    """A folder of counters as the kernel has it: of each its name, joules, range."""
    for folder, (name, joules, most) in packages.items():
        (root / folder).mkdir(exist_ok=True)
        for file, value in (
            ("name", name),
            ("energy_uj", int(joules * 1e6)),
            ("max_energy_range_uj", int(most * 1e6)),
        ):
            (root / folder / file).write_text(f"{value}\n")


def test_joules_of_packages_are_read_and_their_parts_left(tmp_path):
    first = {"a": ("package-0", 10, 100), "b": ("core", 1, 100)}
    counters(tmp_path, **first, c=("package-1", 99, 100))

    def work():
        counters(tmp_path, a=("package-0", 14, 100), b=("core", 9, 100))
        counters(tmp_path, c=("package-1", 1, 100))  # begun anew

    found = host_power.told(work, tmp_path)
    assert found["packages"] == 2
    assert found["watts"] * found["seconds"] == pytest.approx(4 + 2, rel=1e-5)


def test_where_nothing_counts_it_is_not_run_in_words(tmp_path):
    assert "no counter of energy" in host_power.told(int, tmp_path)["not_run"]
    counters(tmp_path, a=("package-0", 1, 2))
    (tmp_path / "a" / "max_energy_range_uj").unlink()
    assert "cannot be read" in host_power.told(int, tmp_path)["not_run"]
