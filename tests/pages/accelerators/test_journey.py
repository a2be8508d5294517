"""Section 5.10: Bets"""

from stacklib.pages.accelerators import journey


def test_the_example_is_what_the_page_takes():
    assert journey.example().si == 64
