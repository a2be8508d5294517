"""Section 5.6: Packets"""

from stacklib.pages.accelerators import packets


def test_the_example_is_what_the_page_takes():
    assert packets.example().si == 64
