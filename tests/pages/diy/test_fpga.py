"""Section 9.6: Fpga"""

from stacklib.pages.diy import fpga


def test_the_example_is_what_the_page_takes():
    assert fpga.example().si == 64
