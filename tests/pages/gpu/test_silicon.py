"""Claims on silicon that count in millions and billions."""

from stacklib.pages import judge


def test_units_that_count_in_millions_are_read_and_shown():
    assert judge("b200-transistors").computed_text == "208 billion transistors"
    assert judge("rubin-336b").computed_text == "336 billion transistors"
    assert judge("h100-density").computed_text == "145.9 MTr/mm²"
    assert judge("h100-density").claim.quantity().to("1/mm2").value == 198e6
