"""Section 5.7: Bytes"""

from stacklib.pages.accelerators import bytes


def test_the_example_is_what_the_page_takes():
    assert bytes.example().si == 64
