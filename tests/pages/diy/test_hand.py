"""Section 9.5: Hand"""

from stacklib.pages.diy import hand


def test_the_example_is_what_the_page_takes():
    assert hand.example().si == 64
