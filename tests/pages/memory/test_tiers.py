"""Section 3.9's checks and prices, against counts made another way."""

import pytest

from stacklib import cost, memory, pages
from stacklib.evidence import ledger
from stacklib.memory.ladder.energy import MOVES
from stacklib.memory.ladder.energy_walk import count_energy
from stacklib.memory.tiers.seen import tiers_from
from stacklib.pages.memory.tiers import priced


def test_the_share_that_moves_is_the_share_that_is_counted():
    judged = pages.judge("data-movement-power-share")
    step = memory.decode_energy("llama-3-70b", on="h100-sxm", tp=2)
    counted = count_energy("llama-3-70b", on="h100-sxm")
    moved = sum(q for name, q in counted.items() if step.kinds[name] in MOVES)
    total = sum(counted.values()) + step.parts["constant power"].si
    assert judged.computed.si == pytest.approx(moved / total, rel=2e-3)


def test_every_reading_of_movement_is_within_two_of_the_claim():
    """So the verdict does not hang on which account is right."""
    said = ledger.get("data-movement-power-share").quantity().si
    board = memory.decode_energy("llama-3-70b", on="h100-sxm", tp=2, account="board")
    for kinds in (MOVES, (*MOVES, "control")):
        assert 0.5 <= board.share(*kinds).si / said <= 2


def test_typical_steps_are_roots():
    waits = [t.latency.si for t in tiers_from("sm")]
    root = (waits[-1] / waits[0]) ** (1 / 4)
    assert pages.judge("tier-step-latency-10x").computed.si == pytest.approx(root)


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
