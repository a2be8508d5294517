"""Section 10.5: Supply"""

from stacklib.pages.frontier import supply


def test_the_example_is_what_the_page_takes():
    assert supply.example().si == 64
