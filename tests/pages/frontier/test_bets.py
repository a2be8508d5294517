"""Section 10.7: Bets"""

from stacklib.pages.frontier import bets


def test_the_example_is_what_the_page_takes():
    assert bets.example().si == 64
