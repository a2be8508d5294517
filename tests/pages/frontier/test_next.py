"""Section 10.2: Next"""

from stacklib.pages.frontier import next


def test_the_example_is_what_the_page_takes():
    assert next.example().si == 64
