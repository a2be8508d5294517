"""Section 10.6: Bitline"""

from stacklib.pages.frontier import bitline


def test_the_example_is_what_the_page_takes():
    assert bitline.example().si == 64
