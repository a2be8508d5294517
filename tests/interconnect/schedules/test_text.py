"""Schedules as text: read back as they were written, faults named by their line."""

from dataclasses import replace

import pytest

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.algorithms import KNOWN, all_reduce
from stacklib.interconnect.schedules.text import TextFault, from_text, to_text
from stacklib.interconnect.schedules.verify import verify

PAIRS = [(c, a) for c, table in KNOWN.items() for a in table]


@pytest.mark.rows(("collective", "algorithm"), PAIRS)
def test_a_text_is_read_back(collective: str, algorithm: str):
    for ranks in (1, 2, 3, 8):
        made = getattr(algorithms, collective)(ranks, algorithm)
        read = from_text(to_text(made))
        assert replace(read, algorithm=algorithm) == made and verify(read).holds
        assert to_text(read) == to_text(made)


def test_a_chunk_that_nobody_sends_is_not_forgotten():
    """The last chunk's sends are gone: the array still has it, and it is missed."""
    made = all_reduce(4)
    sends = tuple(send for send in made.sends if send.chunk != 3)
    read = from_text(to_text(replace(made, sends=sends)))
    assert read.chunks == 4 and "chunk 3: missing" in verify(read).faults[0]
    plain = "\n".join(to_text(read).splitlines()[1:])
    assert from_text(plain).chunks == 3  # as the sends name


def test_a_first_line_names_what_the_sends_leave_open():
    told = "collective=broadcast ranks=3, root=1\n1>0 c0 =\n-\n1>2 c0 =\n"
    read = from_text(told)
    assert (read.root, read.ranks, read.steps) == (1, 3, 3) and verify(read).holds
    assert from_text("0>1 c1 =, 1>0 c2 =", "all_to_all").chunks == 4
    summed = "switches=1\n0>2 c0 +, 1>2 c0 +\n2>0 c0 =, 2>1 c0 =\n"
    assert from_text(summed).ranks == 2 and verify(from_text(summed)).holds


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
        ("ranks=two\n0>1 c0 +", "line 1: `ranks=two` is none of collective, ranks"),
        ("ranks=2 ranks=3\n0>1 c0 +", "line 1: `ranks=3`"),
        ("rank=2\n0>1 c0 +", "line 1: `rank=2`"),
        ("collective=sum\n0>1 c0 +", "line 1: `collective=sum`"),
        ("0>1 c0 +\nranks=2", "line 2: `ranks=2` is no send"),
        ("-", "no line with a send"),
        ("0>1 c0 +, -", "line 1: `-` is no send"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, told: str):
    with pytest.raises(TextFault, match="(?s)" + told.replace("+", r"\+")):
        from_text(text)
