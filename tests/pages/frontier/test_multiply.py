"""Section 10.3: Multiply"""

from stacklib.pages.frontier import multiply


def test_the_example_is_what_the_page_takes():
    assert multiply.example().si == 64
