"""Section 5.9: Leaving"""

from stacklib.pages.accelerators import leaving


def test_the_example_is_what_the_page_takes():
    assert leaving.example().si == 64
