"""Section 5.3: Gates"""

from stacklib.pages.accelerators import gates


def test_the_example_is_what_the_page_takes():
    assert gates.example().si == 64
