"""Section 5.10: full houses by the page's loop and by the package, and its figure."""

import re

import pytest

from stacklib.accelerators import compare
from stacklib.accelerators.machines.rows import MACHINES
from stacklib.pages.accelerators import journey as page
from stacklib.pages.accelerators.journey import drawings, figures

from ...programs import loop_of

loop = loop_of("05-accelerators/journey")
LINE = re.compile(r"\d+ x (.+): (\d+) readers, ([\d.]+) ms, ([\d.]+) J a token")


def printed(**changes):
    """What the loop says: machine to its two lines."""
    found = {}
    for name, readers, ms, joules in LINE.findall(loop.prints(**changes)):
        found.setdefault(name, []).append((int(readers), float(ms), float(joules)))
    return found


def test_the_loop_fills_each_house_as_the_package_does():
    for name, (one, many) in printed().items():
        assert one[1] == pytest.approx(1e3 * page.roof(name).si, rel=0.03)
        assert many[0] == page.most(name).si
        shared = 1e3 * page.roof(name, shared=True).si
        assert many[1] == pytest.approx(shared, rel=0.06)  # norms are left out
        energy = page.joules(name, shared=True).si
        assert many[2] == pytest.approx(energy, rel=0.06)


def test_one_more_reader_does_not_fit():
    for name in (page.OWN, page.WAFERS, page.RACK, "Trainium2"):
        most = int(page.most(name).si)
        (last,) = compare("llama-3-70b", [name], batch=most)
        (more,) = compare("llama-3-70b", [name], batch=most + 1)
        assert last.fits and not more.fits


def test_the_order_turns_round_with_a_full_house():
    assert page.gain(page.WAFERS).si > 1 > page.gain(page.WAFERS, shared=True).si
    narrow = printed(old="80, 141.11, 1.3422", new="80, 141.11, 0.6711")
    assert narrow[page.WAFERS][1][2] < printed()[page.WAFERS][1][2]


def test_what_binds_is_the_longest_bar():
    for name in MACHINES:
        waits = page.waits(name)
        longest = max(waits, key=lambda words: waits[words].si)
        assert longest == page.rent.eight()[name].binds
    told = drawings.what_it_waits_for().html
    assert all(name in told for name in MACHINES)


def test_lines_end_where_a_machine_is_full():
    for mark, name in zip(
        figures.energy_spec(title="t")["marks"], figures.SHOWN, strict=True
    ):
        assert mark["x"][-1] == page.most(name).si
        assert mark["y"][0] == pytest.approx(page.joules(name).si)
