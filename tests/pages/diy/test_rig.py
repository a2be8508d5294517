"""Section 9.3: Rig"""

from stacklib.pages.diy import rig


def test_the_example_is_what_the_page_takes():
    assert rig.example().si == 64
