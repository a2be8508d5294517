"""Section 9.1: Budget"""

from stacklib.pages.diy import budget


def test_the_example_is_what_the_page_takes():
    assert budget.example().si == 64
