"""Section 5.2: Array"""

from stacklib.pages.accelerators import array


def test_the_example_is_what_the_page_takes():
    assert array.example().si == 64
