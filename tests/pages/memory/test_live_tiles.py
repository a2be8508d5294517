"""The live figures of tiles and of a scratchpad: what they show and refuse."""

from functools import partial

import pytest

from stacklib.memory.scratchpad.sbuf import sbuf_case
from stacklib.pages.memory.scratchpad import live as scratchpad
from stacklib.pages.memory.scratchpad.figures import tiers_spec
from stacklib.pages.memory.tiling import live as tiles
from stacklib.plots.spec import check
from stacklib.quantity import Quantity

from ...live_figures import ask

tile = partial(ask, tiles.explore, tiles.controls())
scratch = partial(ask, scratchpad.explore, scratchpad.controls())


def loads(**changed):
    """Bytes copied in, by policy."""
    spec, _ = scratch(**changed)
    return {r["name"]: r["tree"]["value"] for r in spec["readouts"]}


def test_a_tile_that_does_not_fit_is_told_and_gets_no_rate():
    fits, said = tile()
    assert fits["message"] is None and "intensity" in said
    large, said = tile(tile_m=256)
    assert "256 KiB of registers wanted, 128 KiB there" in large["message"]
    assert set(said) == {"staged", "sums"}
    assert "your tile" not in {m["name"] for m in large["marks"]}


def test_more_stages_run_out_of_shared_memory():
    assert "shared memory wanted" in tile(stages=5)[0]["message"]


def test_turning_round_takes_the_cliff_away():
    before, after = loads(order="same"), loads(order="snake")
    assert before["lru"] > 10 * before["belady"]
    assert after["lru"] == after["belady"] == before["belady"]


def test_below_the_room_nothing_is_copied_again():
    chosen = {"device": "trainium3", "use": 90}
    values = loads(**chosen)
    assert values["lru"] == values["belady"] == values["weight"]
    assert "loaded once" in scratch(**chosen)[0]["title"]


def test_the_product_on_a_core_fills_what_is_printed():
    case = sbuf_case("trainium2")
    assert case.partitions == 128
    assert case.psum.to("MiB").value == 2
    assert (case.blocks, case.panel, case.rounds) == (64, 256, 32)
    assert case.tokens(1) * case.panel * 4 <= case.psum.si
    with pytest.raises(ValueError, match="no token's activations"):
        case.tokens(1e-9)


def test_closed_form_and_plan_agree_across_the_cliff():
    from stacklib.memory.scratchpad.spilling import allocate

    case = sbuf_case("trainium2")
    for use in (0.96, 0.97, 1.02):
        for policy in ("lru", "belady", "weight"):
            plan = allocate(case.program(use), case.managed, policy)
            assert plan.loaded == case.loaded(use, policy)


def test_both_memories_at_once_are_never_slower():
    spec = tiers_spec([("a", "a", 8e12, 4.5e11)], title="Two memories.")
    check(spec)
    both, apart, mark = spec["marks"]
    assert all(x >= y for x, y in zip(both["y"], apart["y"], strict=True))
    assert max(both["y"]) == pytest.approx(mark["y"][0])


def test_what_the_ring_takes_moves_the_cliff():
    narrow, wide = loads(use=95, ring=512), loads(use=95, ring=2048)
    assert narrow["lru"] == narrow["belady"] < wide["belady"] < wide["lru"]
    with pytest.raises(ValueError, match="ring = 28 MiB: more than nothing and less"):
        sbuf_case("trainium2", Quantity(28, "MiB"))
