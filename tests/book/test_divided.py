"""Rooms give quantities, pages only choose: what divides by a bandwidth is a room's."""

import json
from pathlib import Path

import pytest
from _tools import divided

HEAD = (
    "from stacklib import hardware\n"
    "from stacklib.quantity import chosen, quoted\n"
    "from stacklib.pages.interconnect import wires\n"
    "from .wires import port as way\n"
)
WIRES = '''
def port():
    """One direction."""
    return hardware.link("ib_ndr").per_direction.named("port")

@counting("fitted", unit="B/s")
def fitted(): ...

def each(whole, chips):
    return (whole.across(1) / chips).named("share of each")
'''


def planted(root: Path, code: str, where: str = "racks") -> list[str]:
    """Faults of a page with one statement in it, beside a page of wires."""
    folder = root / "stacklib/pages/interconnect"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wires.py").write_text(WIRES)
    (folder / f"{where}.py").write_text(HEAD + code)
    divided.read.cache_clear()
    return divided.faults(root)


def test_no_page_makes_a_time_of_bytes_and_every_ratio_let_through_stands():
    found = divided.divisions()
    faults = [row for row in found if row[1] not in divided.RATIOS]
    assert faults == [], divided.ADVICE
    assert {text for _, text in found} == set(divided.RATIOS)


@pytest.mark.rows(
    "code",
    [
        "t = size / hardware.get('h100').memory_bandwidth",
        "t = size / chip.memory_bandwidth.across(8).named('all')",
        "t = moved.si / chip.memory_bandwidth.si",
        "t = size * (1 / chip.memory_bandwidth)",
        "t = size / (0.8 * chip.memory_bandwidth)",
        "size /= chip.memory_bandwidth",
        "cycles = -(-moved // bandwidth)",
        "rate, words = link.per_direction, 'a port'\nt = size / rate",
        "rate = min(chip.link, chip.host_link)\nt = size / rate",
        "t = size / chosen(8, 'TB/s', label='in round')",
        "t = size / quoted('micron_7450.read')",
        "t = size / drive('micron_9550').write",
        "t = size / wires.port()",
        "t = size / way()",
        "t = size / wires.fitted()",
        "t = size / wires.each(chip.memory_bandwidth, 8)",
        "t = size / anything.to('GB/s per_direction')",
        "def f(size):\n    port = way()\n    return [n / port for n in size]",
        "t = latency + size / far.fields['bidirectional']",
    ],
)
def test_a_planted_division_is_named(tmp_path: Path, code: str):
    (found,) = planted(tmp_path, code)
    assert found.startswith("stacklib/pages/interconnect/racks.py: ")
    assert "memory_time, link_time, moving_time" in found


@pytest.mark.rows(
    "code",
    [
        "ridge = chip.peak('bf16') / chip.memory_bandwidth",
        "gain = new.memory_bandwidth / old.memory_bandwidth",
        "rate = run.rate\nshare = rate / chip.memory_bandwidth",
        "half = chip.memory_bandwidth / 2\nwide = chip.memory_bandwidth * seconds",
        "told = chip.memory_bandwidth / one_of('GB/s', 'one GB/s')\nn = size / told.x",
        "t = memory_time(size, 'h100') + link_time(size, 'nvlink4') / 2",
        "share = size / wires.each(total, 8)",
        "rate = rate.rate\nt = size / rate",
    ],
)
def test_what_is_no_time_passes(tmp_path: Path, code: str):
    assert planted(tmp_path, code) == []


def test_a_cell_is_read_too(tmp_path: Path):
    folder = tmp_path / "chapters/06-interconnect"
    folder.mkdir(parents=True)
    code = "from stacklib.pages.interconnect import wires as page\nsize / page.port()"
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": []}
    words = {"cell_type": "markdown", "source": "size / rate", "metadata": {}}
    book = {"cells": [words, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "racks.ipynb").write_text(json.dumps(book))
    (found,) = planted(tmp_path, "")
    assert found.startswith("chapters/06-interconnect/racks.ipynb: size / page.port()")
