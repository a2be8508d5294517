"""Schedules as text: read back as they were written, faults named by their line."""

import pytest

from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.text import TextFault, from_text, to_text
from stacklib.interconnect.schedules.verify import verify

FLAT = ("ring", "tree", "double_binary_tree", "halving_doubling", "direct", "bruck")


@pytest.mark.rows("algorithm", FLAT)
def test_a_text_is_read_back(algorithm: str):
    for ranks in (2, 3, 8):
        made = all_reduce(ranks, algorithm)
        read = from_text(to_text(made))
        assert read.sends == made.sends and verify(read).holds


def test_spaces_comments_and_empty_lines_count_for_nothing():
    read = from_text("# two\n\n 0 > 1 c0 + ,1>0   c0 +, # both\n")
    assert read.steps == 1 and verify(read).holds


@pytest.mark.rows(
    ("text", "told"),
    [
        ("", "no line with a send"),
        ("# 0>1 c0 +", "no line with a send"),
        ("0>1 c0 +\n\n0>1", "line 3: `0>1` is no send"),
        ("0>1 c0 -", "line 1: `0>1 c0 -`"),
        ("0>1 c0 +, , 1>0 c0 =", "line 1: ``"),
        ("0>64 c0 +", "65 ranks"),
        ("0>1 c1.5 +", "line 1"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, told: str):
    with pytest.raises(TextFault, match="(?s)" + told.replace("+", r"\+")):
        from_text(text)


def test_a_silent_step_has_no_line():
    made = from_text("0>1 c0 +\n1>0 c0 =")
    late = [send._replace(step=2 * send.step) for send in made.sends]
    with pytest.raises(ValueError, match="step 1 sends nothing"):
        to_text(type(made)("all_reduce", "late", 2, 1, tuple(late)))
