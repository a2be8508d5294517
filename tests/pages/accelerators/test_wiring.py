"""Section 5.8: its loop chooses as the package does, and its sums add up."""

import pytest

from stacklib.accelerators import mask_rom
from stacklib.accelerators.products.rom_lines import adding_time, wired
from stacklib.pages import chain
from stacklib.pages.accelerators import wiring as page
from stacklib.pages.accelerators.wiring import drawings
from stacklib.quantity import chosen
from stacklib.serving.token.shape import HEAD, PRODUCTS

from ...programs import loop_of

loop = loop_of("05-accelerators/wiring")


def test_the_loop_chooses_as_the_package_does():
    codes = [[3, 15, 0, 8], [8, 1, 7, 12]]
    signed = [[c - 16 if c > 7 else c for c in row] for row in codes]
    assert loop.prints() == f"{mask_rom(signed).multiply([5, -2]).tolist()}\n"
    levels = "[c * c - 3 * c for c in range(16)]"
    old = "[code - 16 if code > 7 else code for code in range(16)]"
    squares = [[c * c - 3 * c for c in row] for row in codes]
    right = [5 * a - 2 * b for a, b in zip(*squares, strict=True)]
    assert loop.prints(old, levels) == f"{right}\n"


def test_the_budget_by_hand():
    assert page.each().si == pytest.approx(53e9 / 8.03e9, rel=1e-3)
    assert page.sum_bits().si == 8 + 4 + 12
    assert page.sharing().si == pytest.approx(24 * 28 / (page.each().si - 1))
    assert page.products("llama-3-70b").si == 4 * 80 + 1
    turns = page.sharing().si * 129 / 1e9
    assert page.token().si == pytest.approx(turns)
    # counted and synthesised: an adder for every weight, and far over the budget
    assert 0.8 < page.wires().si / page.parallel().si < 1.2
    assert page.wires().si > 50 * page.each().si


def test_a_matrix_of_the_tiny_model_is_chosen_exactly():
    assert page.chosen_equals() == 0
    inputs, outputs = page.matrix().shape
    assert page.parts("crossings").si == inputs * outputs
    assert page.parts("products").si == 16 * inputs
    bits = 8 + 4 + 8  # of an input, a weight, and of a sum of 256
    per = 28 * bits * (inputs - 1) / inputs
    assert page.parallel().si == pytest.approx(1 + per)


def test_without_reading_an_account_covers_what_it_covered():
    found = chain.account("05-accelerators/wiring")
    none = wired(found, chosen(1e-6, "s", label="sums"))
    assert none.missing() == found.missing()
    saved = found.total().si - none.total().si
    read = sum(found[name].time.si for name in (PRODUCTS, HEAD))
    assert saved == pytest.approx(read - 1e-6)
    assert page.left().si < found.total().si / 5
    assert adding_time(100, 50, 1e9) == pytest.approx(5e-6)


def test_prices_and_joules_by_hand():
    assert page.joules().si == pytest.approx(200 / 16960)
    rate = page.on_gpu(page.BATCH).si
    assert page.gpu_price().si == pytest.approx(3.59 / 3600 / rate, rel=1e-3)
    tokens = 30e6 / (page.gpu_price().si - page.own_price().si)
    year = 16960 * 0.5 * 365.25 * 86400
    assert page.chip_years().si == pytest.approx(tokens / year, rel=2e-3)
    assert page.thousand().si == pytest.approx(1000 * 131072 * 8 * 6)


def test_the_drawing_has_both_ways():
    alt = drawings.a_choice().alt
    for part in ("memory", "multiplier", "made once per input", "the weight"):
        assert part in alt
