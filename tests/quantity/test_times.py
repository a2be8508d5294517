"""How many times: in words near one, turned round below it; and no page says else."""

import json
import re

import pytest
from _tools import tree

from stacklib.quantity import chosen, say
from stacklib.quantity.times import in_times


@pytest.mark.rows(
    ("ratio", "says"),
    [
        (1, "the same time"),
        (0.95, "the same time"),
        (1.05, "the same time"),
        (1.06, "1.1 times as long"),
        (17, "17 times as long"),
        (0.94, "1.1 times as fast"),
        (0.5, "2 times as fast"),
    ],
)
def test_a_ratio_near_one_is_the_same_and_below_one_the_inverse(ratio, says):
    assert in_times(ratio) == says


@pytest.mark.rows(
    ("ratio", "words"), [(0, "a|b|c"), (-1, "a|b|c"), (1, "a"), (1, "a|b")]
)
def test_what_has_no_words_is_refused(ratio, words):
    with pytest.raises(ValueError, match="above zero, and three words"):
        in_times(ratio, words)


def test_a_number_of_the_text_may_be_said_in_words():
    words = "times as much work|as much work|times less work"
    one, half = (say("t", a=(chosen(x, label="x"), "It.", words)) for x in (1.01, 0.25))
    assert (repr(one), repr(half)) == (
        "t.a = as much work",
        "t.a = 4 times less work",
    )
    assert half.stored()["numbers"]["t.a"]["unit"] == words


SAID = re.compile(r"\[([\d.]+)\]\(#q:[^)]*\) times\b")


def odd_times(prose: str) -> list[str]:
    """Ratios near or below one that are printed as a number of times."""
    return [m[0] for m in SAID.finditer(prose) if float(m[1]) <= 1.05]


def test_no_page_says_one_times_or_half_a_times():
    assert odd_times("takes [1](#q:a.b) times as long, [0.5](#q:a.c) times") == [
        "[1](#q:a.b) times",
        "[0.5](#q:a.c) times",
    ]
    assert odd_times("[2](#q:a.b) times as long") == []
    found = {}
    for path in [*tree.notebooks(), *(tree.ROOT / "book").rglob("*.md")]:
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "".join(
                "".join(c["source"]) for c in cells if c["cell_type"] == "markdown"
            )
        if odd := odd_times(text):
            found[path.name] = odd
    assert found == {}
