"""Section 9.3: the page's loop and tables beside the package's, and its machine."""

import re

import pytest

from stacklib.diy import diagnose
from stacklib.diy.rig import RigError
from stacklib.interconnect.networks.pcie import board_path, slot
from stacklib.pages.diy import rig as page
from stacklib.pages.diy.rig import drawings

from ...programs import loop_of

loop = loop_of("09-diy/rig")


def rates(**changes):
    return [float(x) for x in re.findall(r": ([\d.]+) GB/s", loop.prints(**changes))]


@pytest.mark.parametrize("peer", [False, True])
def test_the_loop_walks_as_the_package_does(peer):
    told = rates(old="4], False", new=f"4], {peer}")
    ways = ((16, "PHB"), (4, "PHB"), (4, "SYS"))
    for found, (lanes, word) in zip(told, ways, strict=True):
        want = board_path(word, slot(4, lanes), peer=peer, level="SYS").rate
        assert found == pytest.approx(want / 1e9, rel=0.02)


def test_the_napkin_is_what_the_room_pays_in_a_prompt():
    more = page.reading(4).si - page.reading(16).si
    paid = page.exchanging(4).si - page.exchanging(16).si
    assert paid == pytest.approx(more, rel=0.02)


def test_lanes_cost_tensors_and_prompts_most():
    asked = ("decode", 4), ("decode", 4, 8), ("prompt", 4)
    lost = [page.lost(*of).si for of in asked]
    assert 0.03 < lost[0] < lost[1] < lost[2] < 0.6
    left = page.rate("layers", 4).si / page.rate("layers").si
    assert left > 0.99


def test_the_machine_of_the_page_has_three_things_wrong():
    found = diagnose(page.machine(), page.FILE, split="tensors")
    assert [one.rule for one in found] == ["limit", "link-lanes", "link-generation"]
    idle = page.SMI.replace("97 %", "0 %").replace("96 %", "0 %").replace("98 %", "0 %")
    found = diagnose(page.machine(idle), page.FILE, split="tensors")
    assert [f.verdict for f in found if f.rule == "link-generation"] == ["undecided"]
    with pytest.raises(RigError, match="without -q"):
        page.machine("| NVIDIA-SMI 580.95 |")
    assert "root complex" in drawings.lanes_of_a_machine().html
