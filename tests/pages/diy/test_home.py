"""Section 9.8: Home"""

from stacklib.pages.diy import home


def test_the_example_is_what_the_page_takes():
    assert home.example().si == 64
