"""Section 3.9's checks and prices, against counts made another way."""

from itertools import pairwise

import pytest

from stacklib import cost, memory, pages
from stacklib.memory.ladder.energy import MOVES
from stacklib.memory.ladder.energy_walk import count_energy
from stacklib.memory.tiers.seen import tiers_from
from stacklib.pages.memory.tiers import priced


def test_the_share_that_moves_is_the_share_that_is_counted():
    step = memory.decode_energy("llama-3-70b", on="h100-sxm", tp=2)
    counted = count_energy("llama-3-70b", on="h100-sxm")
    moved = sum(q for name, q in counted.items() if step.kinds[name] in MOVES)
    total = sum(counted.values()) + step.parts["constant power"].si
    assert step.share(*MOVES).si == pytest.approx(moved / total, rel=2e-3)


def test_readings_of_movement_are_apart_so_no_word_is_given():
    board = memory.decode_energy("llama-3-70b", on="h100-sxm", tp=2, account="board")
    path, wide = (board.share(*k).si for k in (MOVES, (*MOVES, "control")))
    assert wide > 2 * path
    assert pages.judge("data-movement-power-share").verdict == "open"


@pytest.mark.rows("field", ["latency", "energy"])
def test_a_rule_of_each_step_is_held_to_the_steps(field):
    found = [t.field(field).si for t in tiers_from("sm") if t.field(field)]
    every = [after / before for before, after in pairwise(found)]
    judged = pages.judge(f"tier-step-{field}-10x")
    assert [end.si for end in judged.ends] == pytest.approx([min(every), max(every)])
    assert judged.verdict == "wrong"


def test_sram_costs_its_silicon():
    assert priced.sram_price().si == cost.sram("n5").middle.si


def test_prices_fall_outwards_and_rise_in_the_shortage():
    calm, dear = priced.prices(), priced.prices("shortage")
    order = [calm[k].si for k in ("sram", "hbm", "ddr5", "nvme")]
    assert order == sorted(order, reverse=True)
    assert all(dear[k].si >= calm[k].si for k in calm)
    assert calm["cxl"].si == calm["ddr5"].si
    with pytest.raises(ValueError, match="market 'tomorrow'"):
        priced.prices("tomorrow")
