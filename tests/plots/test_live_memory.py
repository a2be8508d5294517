"""The live figures of tiles and of a scratchpad: what they show and refuse."""

import pytest

from stacklib.memory.scratchpad.sbuf import sbuf_case
from stacklib.plots.live import scratchpad, tiles
from stacklib.plots.spec import check
from stacklib.plots.spills import tiers_spec


def starts(module):
    return {c["name"]: c["value"] for c in module.controls()}


@pytest.mark.parametrize("module", [tiles, scratchpad])
def test_every_value_of_every_control_gives_a_spec(module):
    start = starts(module)
    for control in module.controls():
        values = control.get("values") or [v for v, _ in control["options"]]
        for value in values:
            check(module.explore(**{**start, control["name"]: value}))


def test_a_tile_that_does_not_fit_is_told_and_gets_no_rate():
    start = starts(tiles)
    fits = tiles.explore(**start)
    assert fits["message"] is None
    assert "intensity" in {r["name"] for r in fits["readouts"]}
    large = tiles.explore(**{**start, "tile_m": 256})
    assert "256 KiB of registers wanted, 128 KiB there" in large["message"]
    assert {r["name"] for r in large["readouts"]} == {"staged", "sums"}
    assert "your tile" not in {m["name"] for m in large["marks"]}


def test_more_stages_run_out_of_shared_memory():
    start = starts(tiles) | {"stages": 5}
    assert "shared memory wanted" in tiles.explore(**start)["message"]


def test_turning_round_takes_the_cliff_away():
    start = starts(scratchpad)
    read = {r["name"]: r for r in scratchpad.explore(**start)["readouts"]}
    lru, best = (read[n]["tree"]["value"] for n in ("lru", "belady"))
    assert lru > 10 * best
    there_and_back = scratchpad.explore(**start | {"order": "snake"})["readouts"]
    again = {r["name"]: r["tree"]["value"] for r in there_and_back}
    assert again["lru"] == again["belady"] == best


def test_below_the_room_nothing_is_copied_again():
    spec = scratchpad.explore(device="trainium3", order="same", use=90)
    values = {r["name"]: r["tree"]["value"] for r in spec["readouts"]}
    assert values["lru"] == values["belady"] == values["weight"]
    assert "loaded once" in spec["title"]


def test_the_product_on_a_core_fills_what_is_printed():
    case = sbuf_case("trainium2")
    assert case.partitions == 128
    assert case.psum.to("MiB").value == 2
    assert (case.blocks, case.panel, case.rounds) == (64, 256, 32)
    assert case.tokens(1) * case.panel * 4 <= case.psum.si
    with pytest.raises(ValueError, match="no token's activations"):
        case.tokens(1e-9)


def test_closed_form_and_plan_agree_across_the_cliff():
    from stacklib.memory import allocate

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
