"""Section 10.8: Journey"""

from stacklib.pages.frontier import journey


def test_the_example_is_what_the_page_takes():
    assert journey.example().si == 64
