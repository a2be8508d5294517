"""Claims on what memory costs: their values by hand."""

import math

import pytest

from stacklib import cost, pages


def value(id: str) -> float:
    judged = pages.judge(id)
    return judged.computed.to(judged.claim.quantity().unit).value


def test_values_by_hand():
    ends = [
        0.021e-6 * 8e9 / share * price / (math.pi / 4 * 300**2)
        for share, price in (
            (0.021 * 31.8 * 1.048576, 13495),
            (0.027 * 512 / 41 * 1.048576, 16988),
        )
    ]
    middle = math.sqrt(ends[0] * ends[1])
    assert value("tier-sram-cost") == pytest.approx(middle, rel=1e-3)
    gap = 1 - math.sqrt(0.6 * 0.8) / math.sqrt(0.8 * 0.9)
    assert f"{gap:.0%}".replace("%", " %") in pages.judge("hbm-yield-gap").why
    assert value("hbm-ddr-price-ratio") == pytest.approx(25 / 8)


def test_the_reason_names_every_part_of_the_rest():
    why = pages.judge("b200-cost-residual").why
    assert all(part in why for part in ("packaging", "yield loss", "other"))
    parts = cost.bill("b200_sxm").parts
    assert "yield_loss" in parts and "memory" in parts
