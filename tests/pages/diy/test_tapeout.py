"""Section 9.7: Tapeout"""

from stacklib.pages.diy import tapeout


def test_the_example_is_what_the_page_takes():
    assert tapeout.example().si == 64
