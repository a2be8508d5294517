"""Section 5.6: its loop packs as the package does, its faults are named, its figure."""

import pytest

from stacklib.accelerators import pack
from stacklib.accelerators.packets.organisations import TILE, unrolled
from stacklib.accelerators.packets.pack import fewest
from stacklib.accelerators.packets.verify import verify
from stacklib.pages.accelerators import packets as page
from stacklib.pages.accelerators.packets import drawings, live

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("05-accelerators/packets")


def test_the_loop_packs_as_the_package_does():
    said = [line.split(", ")[1:] for line in loop.prints().splitlines()]
    names = [{drawings.TOLD[at] for at in p.values()} for p in pack(TILE).packets]
    assert list(map(set, said)) == names
    slots = '"load", "store scalar vector", "branch scalar"'
    wider = loop.prints(slots, '"load tensor", "store scalar vector", "branch load"')
    assert len(wider.splitlines()) == page.packets().si - 1


def test_bound_packer_and_search_agree_on_the_tile():
    assert page.packets().si == page.bound().si == page.least().si == 6
    two = pack(unrolled(2)[:14])
    assert two.bound == fewest(two) == two.cycles
    assert page.per_tile(8).si == pytest.approx(27 / 8)
    verify(TILE, page.GOOD)


def test_every_planted_fault_is_named():
    found = [row["the verifier says"] for row in page.faults()]
    assert len(found) == len(page.PLANTED)
    for words, said in zip(
        ("tcm:w", "one store more", "needs tensor", "none 4", "reaches tcm"),
        found,
        strict=True,
    ):
        assert words in said and said.startswith("cycle ")


def test_five_rows_of_one_result():
    rows = page.table()
    assert [int(row["fetched"].si) for row in rows] == [9, 13, 16, 9, 6]
    assert rows[0]["code"].si == 9 * 128 and rows[2]["code"].si == 16 * 322
    assert rows[4]["code"].si == 9 * 32 and rows[1]["code"] is None


def test_a_chain_of_ten_layers_leaves_a_tenth_of_the_traffic():
    n, wide = 512 * 512, 64
    weights = 10 * wide * wide
    assert page.chain("apart").si == weights + n * wide * 20
    assert page.chain("chained").si == weights + n * wide * 2


def test_drawings_show_the_packets():
    found = drawings.six_packets()
    assert "packet 2, slot 3: product" in found.alt
    five = drawings.five_ways()
    assert "trainium tensor" in five.alt and "13 fetched" in five.alt


def test_the_live_figure_says_what_the_packer_does():
    spec, said = ask(live.explore, live.controls(), tiles=8)
    assert said["packets"] == "27" and said["bound"] == "27"
    assert "fill" in spec["title"]
    spec, said = ask(live.explore, live.controls(), machine="1")
    assert said["packets"] == "9" and "empty" in spec["title"]
