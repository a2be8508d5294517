"""Section 9.4: Watts"""

from stacklib.pages.diy import watts


def test_the_example_is_what_the_page_takes():
    assert watts.example().si == 64
