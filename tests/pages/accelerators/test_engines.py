"""Section 5.5: Engines"""

from stacklib.pages.accelerators import engines


def test_the_example_is_what_the_page_takes():
    assert engines.example().si == 64
