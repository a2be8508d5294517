"""Section 5.8: Wiring"""

from stacklib.pages.accelerators import wiring


def test_the_example_is_what_the_page_takes():
    assert wiring.example().si == 64
