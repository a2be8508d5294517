"""Section 9.2: Parts"""

from stacklib.pages.diy import parts


def test_the_example_is_what_the_page_takes():
    assert parts.example().si == 64
