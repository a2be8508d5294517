"""Section 10.4: Layout"""

from stacklib.pages.frontier import layout


def test_the_example_is_what_the_page_takes():
    assert layout.example().si == 64
