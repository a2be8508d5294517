"""The token's account: each section opens where the last one closed."""

from dataclasses import replace
from itertools import pairwise

import pytest
from _tools import said, telling, tree

from stacklib import hardware, serving
from stacklib.pages import chain
from stacklib.pages.chain import bars
from stacklib.pages.chain.posts import POSTS, PROMPT, READ, START, TOKEN
from stacklib.quantity import UnknownName

LAST = "07-quantizers/journey"
SECTIONS = list(POSTS)


def key(section: str, which: str, word: str) -> str:
    """What a bar's number is called."""
    own = f"token_{section.replace('/', '_').replace('-', '_')}_{which}."
    return f"{own}{word}_{chain.number(section).replace('.', '_')}"


def printed(numbers: dict, section: str, which: str, case: str) -> str:
    """What a section prints as the sum of a case, at its head or at its foot."""
    case = case.replace(" ", "_")
    words = ("so_far",) if which == "before" else ("now", "still")
    (found,) = (
        numbers[name].text
        for word in words
        if (name := key(section, which, f"{case}_{word}")) in numbers
    )
    return found


def broken(numbers: dict) -> list[str]:
    """Every section that does not open with the number that closed the one before."""
    found = []
    for case in (TOKEN, PROMPT):
        own = [s for s in SECTIONS if case in (TOKEN, POSTS[s].case)]
        for one, two in pairwise(own):
            closed = printed(numbers, one, "after", case)
            if (opened := printed(numbers, two, "before", case)) != closed:
                found.append(f"{two}: {opened}, where {one} closed with {closed}")
    return found


@pytest.fixture(scope="module")
def numbers():
    """Every number that the book says, as it is stored."""
    return said.numbers()


def test_the_posts_are_the_sections_in_the_order_of_the_book():
    names = [str(p.relative_to(tree.ROOT / "chapters")) for p in telling.sections()]
    assert [name.removesuffix(".ipynb") for name in names] == SECTIONS
    numbers = [".".join(map(str, telling.number(p))) for p in telling.sections()]
    assert [chain.number(section) for section in SECTIONS] == numbers


def test_each_section_opens_where_the_last_one_closed(numbers):
    assert broken(numbers) == []


def test_a_section_that_opens_elsewhere_is_seen(numbers):
    name = key("06-interconnect/links", "before", "a_token_so_far")
    other = numbers[key("06-interconnect/links", "after", "a_token_now")]
    (found,) = broken(numbers | {name: other})
    told = "06-interconnect/links: 5.86 ms, where 05-accelerators/journey"
    assert found.startswith(told)


def test_what_is_stored_is_what_the_account_says_now(numbers):
    for section in SECTIONS:
        for which, after in (("before", False), ("after", True)):
            now = chain.account(section, after=after).total()
            assert printed(numbers, section, which, TOKEN) == now.text()


def test_the_bars_stand_under_their_boxes():
    for path in telling.sections():
        cells = tree.read_notebook(path).cells
        section = str(path.relative_to(tree.ROOT / "chapters")).removesuffix(".ipynb")
        for which in ("before", "after"):
            call = f'account.{which}("{section}")'
            (at,) = (i for i, c in enumerate(cells) if call in c.source)
            assert f"{{token-{which}}}" in cells[at - 1].source
            assert cells[at - 1].source.rstrip().endswith(":::")


def test_both_boxes_say_the_sum_in_words(numbers):
    """What a reader without the drawings follows: the same number, foot to head."""
    for path in telling.sections()[1:]:
        section = str(path.relative_to(tree.ROOT / "chapters")).removesuffix(".ipynb")
        for which in ("before", "after"):
            (box,) = (
                cell.source
                for cell in tree.read_notebook(path).cells
                if f"{{token-{which}}}" in cell.source
            )
            text = box[box.index(f"{{token-{which}}}") :]
            assert f"[{printed(numbers, section, which, TOKEN)}](#q:" in text, section


def test_only_a_section_that_puts_a_line_moves_the_sum():
    for section, post in POSTS.items():
        for case in {TOKEN, post.case}:
            found = [chain.account(section, after=a, case=case) for a in (False, True)]
            gone = {name for name, s in (found[1] - found[0]).items() if s.si}
            puts = set(post.puts) if post.case == case else set()
            assert gone <= puts, section


def test_what_no_section_has_counted_is_missing():
    first = chain.account(SECTIONS[0])
    assert {c.part for c in first.missing()} == {"norms"}
    assert {line.t_bytes for line in first.lines} == {None}
    end = chain.account(LAST, after=True)
    assert end.missing() == ()
    assert [line.name for line in end.lines if line.time is None] == ["host"]


@pytest.mark.parametrize("on", ["h100_sxm", "b200_sxm"])
def test_the_last_account_is_the_room_s(on):
    asked = {"dtype": "nvfp4", "kv_dtype": "bf16", "tp": 8, "context": 4096}
    own = serving.account("llama-3-70b", on, **asked)
    wide = asked | {"dtype": "bf16", "mode": "calibrated"}
    line = serving.account("llama-3-70b", on, **wide)[chain.ATTENTION]
    found = chain.time(LAST, on=on)
    assert found.si == pytest.approx(own.with_(line).total().si)


def test_a_prompt_begins_as_chapter_4_finds_it():
    first = next(s for s in SECTIONS if POSTS[s].case == PROMPT)
    found = chain.account(first, case=PROMPT)
    assert {line.name for line in found.lines if line.time is not None} == set(
        START[PROMPT]
    )


def test_what_is_not_there_is_refused():
    with pytest.raises(UnknownName, match="04-kernels/launches"):
        chain.account("04-kernels/launch")
    with pytest.raises(UnknownName, match="a prompt"):
        chain.account("04-kernels/feed", case="prompt")
    with pytest.raises(UnknownName, match="section"):
        chain.number("launches")
    with pytest.raises(ValueError, match="not counted yet"):
        chain.time("04-kernels/launches", "launches and pauses", after=False)
    with pytest.raises(ValueError, match="mi300x"):
        chain.account("06-interconnect/links", after=True, on="mi300x")
    with pytest.raises(ValueError, match="h100_sxm alone"):
        chain.account("06-interconnect/collectives", after=True, on="b200_sxm")


def test_a_bar_lights_what_the_section_is_about():
    found = bars.before("04-kernels/fusion")
    assert [n.text for n in found.numbers.values()] == ["7.04 ms", "1.68 ms"]
    assert "launches 1.68 ms" in found.html
    assert "; arithmetic " in bars.before(SECTIONS[0]).html
    late = bars.before("04-kernels/launches")
    assert "launches: not counted yet" in late.html
    left = bars.after("04-kernels/fusion")
    assert [n.text for n in left.numbers.values()] == ["5.8 ms", "442 µs", "7.04 ms"]


def test_a_bar_is_as_long_as_its_account():
    from stacklib.plots import drawing as d
    from stacklib.plots.spec import SpecError

    whole = chain.time("01-roofline/decode", *READ)
    parts = (("a", whole, "layer-2", True), ("b", whole, "layer-4", False))
    bar = d.Bar("too long", parts, whole, ["words"])
    with pytest.raises(SpecError, match="longer than its scale"):
        d.draw(bar, name="too-long", title="One.")
    fits = replace(bar, parts=parts[:1])
    assert d.draw(fits, name="it-fits", title="One.", devices=hardware.names()[:1])
