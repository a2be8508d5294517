"""Two builds of a book are told apart, difference by difference."""

import json
from pathlib import Path

from _tools import built, compare

LEAF = {"label": "pages", "value": 3.0, "unit": "", "kind": "assumption"}
TREE = {"value": 6.0, "unit": "B", "text": "6 B", "inputs": [LEAF], "kind": "computed"}
HTML = """<p>outside</p><article>
<h1>Pages<a class="headerlink" href="#p">#</a></h1>
<p>A page holds <span class="st-q" data-q="a.b">6 B</span>, in 3 parts.</p>
<figure class="st-figure" id="fig-a" data-digest="d1"><svg><g>x</g></svg>
<figcaption>Grown.</figcaption></figure>
<table><tr><td>one</td><td>2</td></tr></table>
<div class="st-exercise" id="exercise-1-1"><p>How many?</p>
<p class="st-check">Write it there</p></div>
<script type="application/json" id="st-quantities">{}</script></article>"""


def book(folder: Path, html: str = HTML, **changed: object) -> dict[str, built.Page]:
    """A built book of one page."""
    tree = json.dumps({"a.b": {**TREE, **changed}})
    folder.mkdir()
    (folder / "page.html").write_text(html.replace("{}", tree))
    return built.pages(folder)


def found(tmp_path: Path, old: str, new: str) -> list[str]:
    """What is said when `old` becomes `new` on the page."""
    assert old in HTML
    one, other = book(tmp_path / "a"), book(tmp_path / "b", HTML.replace(old, new))
    return list(map(str, compare.differences(one, other)))


def test_a_book_does_not_differ_from_itself(tmp_path: Path, capsys):
    book(tmp_path / "a")
    assert compare.main([str(tmp_path / "a")] * 2) == 0
    said = capsys.readouterr().out
    assert "no difference" in said and "1 figure" in said


def test_a_number_is_told_apart_from_its_sentence(tmp_path: Path):
    assert found(tmp_path, ">6 B<", ">7 B<") == [
        "number: page.html#a.b: 6 B → 7 B",
        "digits of prose: page.html: A page holds 6 B, in 3 parts. → "
        "A page holds 7 B, in 3 parts.",
    ]


def test_a_typed_number_that_becomes_a_link_is_a_new_number_only(tmp_path: Path):
    link = 'in <span data-q="a.c">3</span> parts'
    assert found(tmp_path, "in 3 parts", link) == ["number: page.html#a.c: (none) → 3"]


def test_figures_rows_and_exercises_are_compared(tmp_path: Path):
    cases = {"d1": "figure: ", "<g>x": "drawing: ", "one": "row: ", "How": "exercise: "}
    for number, (text, kind) in enumerate(cases.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (said,) = found(folder, text, text + "2")
        assert said.startswith(kind)


def test_where_an_answer_is_written_is_not_the_exercise(tmp_path: Path):
    assert found(tmp_path, "Write it there", "Write it here") == []


def test_a_leaf_of_another_kind_and_another_leaf(tmp_path: Path):
    chosen = [{**LEAF, "kind": "chosen"}]
    one, other = book(tmp_path / "a"), book(tmp_path / "b", inputs=chosen)
    (said,) = compare.differences(one, other)
    assert str(said) == "kind of pages = 3: page.html: assumption → chosen"
    assert compare.summary([said]) == "1 differences: assumption → chosen 1"
    moved = book(tmp_path / "c", inputs=[{**LEAF, "value": 4.0}])
    (said,) = compare.differences(one, moved)
    assert str(said) == "leaves: page.html#a.b: pages = 3 → pages = 4"


def test_a_page_that_is_gone_is_named(tmp_path: Path):
    (said,) = compare.differences(book(tmp_path / "a"), {})
    assert str(said) == "page: page.html: there → (none)"
