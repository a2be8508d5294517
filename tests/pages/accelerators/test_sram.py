"""Section 5.4: Sram"""

from stacklib.pages.accelerators import sram


def test_the_example_is_what_the_page_takes():
    assert sram.example().si == 64
