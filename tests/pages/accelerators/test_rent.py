"""Section 5.1: Rent"""

from stacklib.pages.accelerators import rent


def test_the_example_is_what_the_page_takes():
    assert rent.example().si == 64
