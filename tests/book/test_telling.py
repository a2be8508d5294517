"""Every section is told in the form of the book, and each rule's fault is seen."""

import nbformat
import pytest
from _tools import contents, telling, tree
from nbformat import v4

HEAD = """(here)=
# 3.4 What stays near?

:::{token-before}
reading: [5.24 ms](#q:a.b)
:::

One question, asked in [a few](x.ipynb) words.

:::{predict} near
:unit: %
:answer: a.c
How much?
:::
"""
FOOT = """$$ t = b / B $$

:::{napkin}
t = b / B
:::

:::{takeaway}
One.
:::

:::{token-after}
reading: [5.24 ms](#q:a.b), all of it
:::

:::{not-modelled}
Two.
:::

:::{tonight}
Three.
:::

:::{dropdown} More
Four.
:::
"""
DRAWN = '<figure class="st-figure st-drawing"><tspan data-q="a.d"></tspan></figure>'
CHART = '<figure class="st-figure"></figure>'
BAR = '<figure class="st-figure st-drawing" id="fig-token-03-memory-near"></figure>'
LONG = "<table><tbody>" + "<tr><td>1</td></tr>" * 9 + "</tbody></table>"


def cell(source, html="", tags=()):
    """A code cell and what it shows."""
    data = {"text/html": html, "text/plain": ""}
    shown = [v4.new_output("execute_result", data)] if html else []
    return v4.new_code_cell(source, outputs=shown, metadata={"tags": [*tags]})


def cells():
    """A section with nothing wrong."""
    return [
        v4.new_markdown_cell(HEAD),
        cell("drawn()", DRAWN, ["hide-input"]),
        cell("plotted()", CHART, ["hide-input"]),
        cell("for line in range(8):\n    print(line)"),
        cell("table()", LONG, ["hide-cell"]),
        cell("before()", BAR, ["hide-input"]),
        cell("after()", BAR, ["hide-input"]),
        v4.new_markdown_cell(FOOT),
    ]


@pytest.fixture
def write(tmp_path):
    """Count a section made of cells."""

    def made(*given):
        path = tmp_path / "chapters" / "03-memory" / "near.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(v4.new_notebook(cells=list(given)), path)
        (found,) = telling.sections(tmp_path)
        return telling.told(found, tmp_path)

    return made


def test_the_counts_of_a_small_section(write):
    found = write(*cells())
    assert found.lacks == ()
    assert (found.section, found.drawings, found.tables) == ("3.4", 1, 0)
    assert (found.equations, found.loops, found.folds) == (1, 1, 6)
    # Title, token's line twice, question and its link, box, napkin and the boxes.
    assert (found.words, found.folded, found.numbers) == (29, 1, 3)


FAULTS = {
    "1410 words, at most 1400": lambda c: c.insert(1, prose("word " * 1381)),
    "601 folded": lambda c: c.append(fold(600)),
    "9 rows, at most 8": lambda c: c.append(cell("table()", LONG)),
    "4 tables": lambda c: c.extend([prose("| a |\n| - |\n| b |\n") for _ in range(4)]),
    "no drawings": lambda c: c.pop(1),
    "a chart stands before": lambda c: c.insert(1, c.pop(2)),
    "no loops": lambda c: c.__setitem__(3, cell("[x for x in y]")),
    "no equations": lambda c: swap(c, "$$ t = b / B $$", ""),
    "no box 'napkin'": lambda c: swap(c, "{napkin}", "{note}"),
    "no box 'tonight'": lambda c: swap(c, "{tonight}", "{note}"),
    "under the title": lambda c: c.__setitem__(
        0, prose(HEAD.replace("\n\n:", "\n\nA\n:", 1))
    ),
    "no bar of the account": lambda c: c.pop(-2),
    "no changed line": lambda c: swap(c, "{token-after}", "{note}"),
    "a table of claims": lambda c: c.append(prose(":::{claims-table} 1\n:::")),
    "'first review'": lambda c: c.append(prose("A first review called it so.")),
    "'held-out'": lambda c: c.append(prose("By the held-out rows.")),
    "'A-0395'": lambda c: c.append(fold(1, "See A-0395.")),
}


def prose(text):
    """A Markdown cell."""
    return v4.new_markdown_cell(text)


def fold(words, text=""):
    """A fold of so many words."""
    return prose(f":::{{dropdown}} More\n{text or 'word ' * words}\n:::\n")


def swap(found, old, new):
    """The last cell with other words."""
    found[-1] = prose(found[-1].source.replace(old, new))


def test_each_rule_sees_its_fault(write):
    seen = {}
    for words, plant in FAULTS.items():
        planted = cells()
        plant(planted)
        seen[words] = write(*planted).lacks
    others = {w: s for w, s in seen.items() if len(s) != 1 or w not in s[0]}
    assert others == {}


# Chapters in the form; the others are still to be told.
TOLD: tuple[int, ...] = (1, 2, 3, 4, 6, 7, 8)


def test_every_section_is_told_in_the_form_and_a_chapter_has_its_drawings(subtests):
    for chapter in TOLD:
        paths = telling.sections(chapter=chapter)
        told = {path.stem: telling.told(path, tree.ROOT) for path in paths}
        with subtests.test(chapter=chapter):
            assert {name: t.lacks for name, t in told.items() if t.lacks} == {}
            drawn = sum(one.drawings for one in told.values())
            assert drawn >= 12 or chapter not in contents.finished()
