"""Section 9.1: the page's loop beside the package, its tables and figure."""

import re

import pytest

from stacklib import diy
from stacklib.diy.checker import verify
from stacklib.pages.diy import budget as page
from stacklib.pages.diy.budget import drawings, live

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("09-diy/budget")
LINE = re.compile(r"([\d,]+) USD: (\d) x (.+), at most (\d+) tokens/s")
KEYS = {"RTX 3090, used": page.OLD, "RX 7900 XTX": "rx_7900_xtx", "RTX 5090": page.PAIR}


def printed(**changes):
    """What the loop says: card and number to tokens a second at the most."""
    return {(c, int(n)): int(t) for _, n, c, t in LINE.findall(loop.prints(**changes))}


def test_what_the_loop_prints_fits_and_is_the_ceiling_by_tensors():
    found = printed()
    for (name, many), tokens in found.items():
        if key := KEYS.get(name):
            most = page.ceiling("tensors", key, many).si
            assert tokens == pytest.approx(most, rel=0.02)
            assert page.rate(key, many).si < tokens
    assert ("RTX 5060 Ti", 2) not in found and "does not fit" in page.refused()


def test_half_a_model_brings_smaller_cards_back():
    half = printed(old="= 41.9, 1.34", new="= 18.4, 1.34")
    assert ("RTX 3090, used", 1) in half and ("RTX 5060 Ti", 2) in half


def test_the_estimate_is_below_its_ceiling_and_inside_its_band():
    assert page.end("low").si < page.rate().si < page.end("high").si
    for split in ("layers", "tensors"):
        assert page.rate(split=split).si < page.ceiling(split).si


def test_each_machine_keeps_rules_and_budget_and_no_larger_one_is_slower():
    paces = [page.pace(budget).si for budget in page.BUDGETS]
    assert paces == sorted(paces)
    for budget in page.BUDGETS:
        assert verify(page.machine(budget)) == []
        assert page.bill(budget).si <= budget


def test_cards_that_take_turns_hold_more_and_are_no_faster():
    rows = page.ran()
    assert max(row["measured"].si for row in rows[:3]) < 1.05 * rows[0]["measured"].si
    assert all(0.9 < row["over"].si < 1.1 for row in rows)
    assert page.mixed().si < page.rate(split="layers").si


def test_the_drawing_has_each_memory_and_its_way_out():
    told = drawings.what_a_budget_holds().html
    for budget in page.BUDGETS:
        card = page.hardware.get(page.machine(budget).gpus[0].device)
        assert card.memory_capacity.text() in told
        assert page.name(page.machine(budget)) in told


def test_the_configurator_plans_as_the_package_does():
    _, said = ask(live.explore, live.controls(), budget=10_000, outlet="240")
    best = diy.plan(10_000, page.RUN, parts=live.parts(), most=1, circuit=240)[0]
    assert said["rate"].startswith(f"{best.runs[0].decode:.3g}")
    spec, said = ask(live.explore, live.controls(), budget=2000)
    assert "costs" in spec["message"] and not said
