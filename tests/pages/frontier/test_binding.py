"""Section 10.1: Binding"""

from stacklib.pages.frontier import binding


def test_the_example_is_what_the_page_takes():
    assert binding.example().si == 64
