"""The Sphinx extensions, on a tiny book with two stored numbers."""

import importlib
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from _tools import said
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from stacklib import __version__, hardware, pages
from stacklib.evidence import moved
from stacklib.quantity import assumed, chosen, say
from stacklib.quantity.say import MIME, Saying

ROOT = Path(__file__).parents[2]


def tiny(gigabytes: float) -> Saying:
    """Two numbers, as a cell would say them."""
    wires = hardware.get("h100-sxm").memory_bandwidth
    time = chosen(gigabytes, "GB", label="weights") / wires
    decode = say("decode", t_mem=(time, "Time to read the </script> weights", "ms"))
    chip = say("h100", bandwidth=(wires, "Bandwidth of the memory"))
    return Saying({**decode.numbers, **chip.numbers})


EXERCISE = '''"""How long does one token take?

level: estimate
project: P1.1

Two chips read **all** weights; see [21.1 ms](#q:decode.t_mem).

hint: Divide *bytes* by bandwidth.
"""

# ---- your answer ----


def milliseconds(size: float, bandwidth: float) -> float:
    """Time to read `size` bytes once, in milliseconds."""
    return size / bandwidth * 1e3


# ---- tests ----


def test_milliseconds():
    assert milliseconds(1, 1) == 1e3
'''

CONFIG = {
    "extensions": ["myst_nb", "computed_links", "boxes", "page_meta"],
    "myst_enable_extensions": ["colon_fence", "dollarmath"],
    "nb_execution_mode": "off",
}


class Book:
    """A book in `folder`, built in this process; ``build`` returns its warnings."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, monkeypatch
        monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
        monkeypatch.syspath_prepend(str(folder))
        self.weights(70.6)
        self.write("index.md", "# Tiny\n")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def weights(self, gigabytes: float) -> None:
        """Change the one given that the time stands on."""
        self.store(tiny(gigabytes).stored())

    def store(self, stored: dict) -> None:
        self.write("book/said.json", json.dumps(stored))

    def build(self, processes: int = 1, **config: object) -> list[str]:
        warnings, out = io.StringIO(), self.folder / "_build"
        source = str(self.folder)
        with patch_docutils(source), docutils_namespace():
            app = Sphinx(
                source,
                None,
                str(out / "html"),
                str(out / "trees"),
                "html",
                {**CONFIG, **config},
                status=None,
                warning=warnings,
                parallel=processes,
            )
            app.build()
        plain = re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue())
        return [
            line for line in plain.splitlines() if "WARNING" in line or "ERROR" in line
        ]

    def told(self, pages: list[str]) -> list[list[str]]:
        """The warnings of each of several pages, all built at once."""
        names = [f"page-{number}" for number in range(len(pages))]
        for name, text in zip(names, pages, strict=True):
            self.write(f"{name}.md", text)
        self.write("index.md", "\n".join(["# T\n\n```{toctree}", *names, "```\n"]))
        warnings = self.build()
        return [[w for w in warnings if f"{name}.md" in w] for name in names]

    def html(self, name: str = "index") -> str:
        return (self.folder / "_build" / "html" / f"{name}.html").read_text("utf-8")

    def words(self) -> str:
        """The text of the index page, without its tags."""
        return " ".join(re.sub(r"<[^>]*>", "", self.html()).split())


@pytest.fixture
def book(tmp_path, monkeypatch):
    return Book(tmp_path, monkeypatch)


def notebook(*cells: str, **metadata) -> str:
    """A notebook of Markdown cells."""
    made = [{"cell_type": "markdown", "metadata": {}, "source": c} for c in cells]
    about = {"language_info": {"name": "python"}, **metadata}
    return json.dumps(
        {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 4}
    )


def test_a_fresh_number_becomes_a_span_with_its_derivation(book):
    text = "It takes [21.1 ms](#q:decode.t_mem)."
    table = "| a |\n|---|\n| [3.35 TB/s](#q:h100.bandwidth) |"
    book.write(
        "index.md", f"# Tiny\n\n{text}\n\n{table}\n\n```{{toctree}}\npage\n```\n"
    )
    book.write("page.ipynb", notebook("# Page", text, table))
    assert book.build() == []
    for name in ("index", "page"):
        html = book.html(name)
        assert '<span class="st-q" data-q="decode.t_mem">21.1 ms</span>' in html
        assert '<span class="st-q" data-q="h100.bandwidth">3.35 TB/s</span>' in html
        found = re.search(r'id="st-quantities">(.*?)</script>', html)
        trees = json.loads(found[1].replace("<\\/", "</"))
        assert set(trees) == {"decode.t_mem", "h100.bandwidth"}
        assert trees["decode.t_mem"]["inputs"][1]["kind"] == "spec"


def test_the_numbers_of_a_drawing_open_as_those_of_the_text(book):
    number = '<text><tspan class="st-q" data-q="{}">21.1 ms</tspan></text>'
    drawn = '<figure class="st-figure st-drawing"><svg>{}</svg></figure>'
    way = '<text><a href="../a/b.ipynb">b</a></text>'  # a line that leads to a notebook
    shown = drawn.format(number.format("decode.t_mem") + way)
    book.write("index.md", f"# Tiny\n\n{shown}\n")
    assert book.build() == []
    assert '<a href="../a/b.html">b</a>' in book.html()
    found = re.search(r'id="st-quantities">(.*?)</script>', book.html())
    assert set(json.loads(found[1].replace("<\\/", "</"))) == {"decode.t_mem"}
    book.write("index.md", f"# Tiny\n\n{drawn.format(number.format('a.b'))}\n")
    (warning,) = book.build()
    assert "a drawing names 'a.b', which no cell says" in warning


def test_a_stale_number_warns_with_page_name_and_both_texts(book):
    book.write("index.md", "# Tiny\n\nIt takes [21.5 ms](#q:decode.t_mem).\n")
    (warning,) = book.build()
    assert "index.md:3" in warning
    assert "'decode.t_mem' reads '21.5 ms' here, its cell says '21.1 ms'" in warning


def test_an_unknown_number_warns_with_the_nearest(book):
    book.write("index.md", "# Tiny\n\nIt takes [21.1 ms](#q:decode.tmem).\n")
    (warning,) = book.build()
    assert "no computed number 'decode.tmem'; nearest: decode.t_mem" in warning


def test_an_unchanged_page_is_read_again_when_its_number_moves(book):
    book.write("index.md", "# Tiny\n\nIt takes [21.1 ms](#q:decode.t_mem).\n")
    assert book.build() == []
    book.weights(29.5)
    (warning,) = book.build()
    assert "its cell says '8.81 ms'" in warning


def test_a_text_that_its_derivation_does_not_give_is_refused(book):
    stored = tiny(70.6).stored()
    stored["numbers"]["decode.t_mem"]["text"] = "20.1 ms"
    book.store(stored)
    (warning,) = book.build()
    assert "decode.t_mem reads '20.1 ms', its derivation gives '21.1 ms'" in warning


def test_a_stale_leaf_is_refused_with_its_record_and_both_values(book):
    stored = tiny(70.6).stored()
    nodes = [node.replace("3350000000000.0", "3.0e12") for node in stored["nodes"]]
    stored["numbers"]["decode.t_mem"]["text"] = "23.5 ms"
    stored["numbers"]["h100.bandwidth"]["text"] = "3 TB/s"
    book.store({**stored, "nodes": nodes})
    (warning,) = book.build()
    assert "is 3e+12 (SI, of TB/s per_chip)" in warning
    assert "h100-sxm.memory_bandwidth is 3.35e+12" in warning


def test_a_leaf_of_a_spec_without_its_record_is_refused(book):
    stored = tiny(70.6).stored()
    key = '"key":"h100-sxm.memory_bandwidth",'
    assert any(key in node for node in stored["nodes"])
    book.store({**stored, "nodes": [n.replace(key, "") for n in stored["nodes"]]})
    (warning,) = book.build()
    assert "is spec and names no record" in warning


def test_a_name_said_twice_names_both_cells(book):
    cell = {"cell_type": "code", "source": "", "metadata": {}, "execution_count": 1}
    data = {MIME: tiny(70.6).stored()}
    out = {"output_type": "execute_result", "metadata": {}, "data": data}
    made = json.loads(notebook("# Page"))
    made["cells"].append({**cell, "outputs": [{**out, "execution_count": 1}]})
    book.write("chapters/01-a/page.ipynb", json.dumps(made))
    with pytest.raises(said.SaidTwice, match=r"page\.ipynb, cell 2 and in book/said"):
        said.numbers(book.folder)


BOXES = ("napkin", "takeaway", "not-modelled", "tonight", "token-after")


def test_boxes_hold_markdown_in_pages_and_notebooks(book):
    within = "One **read**: [21.1 ms](#q:decode.t_mem).\n:::\n"
    boxes = [f":::{{{kind}}}\n{within}" for kind in BOXES]
    text = "\n".join([*boxes, "```{toctree}\npage\n```\n"])
    book.write("index.md", f"# Tiny\n\n{text}")
    book.write("page.ipynb", notebook("# Page", *boxes))
    assert book.build() == []
    for name in ("index", "page"):
        html = book.html(name)
        for kind in BOXES:
            (made,) = html.split(f'class="st-box st-{kind} docutils"')[1:]
            assert "<strong>read</strong>" in made.split('class="st-box ')[0]


def test_a_measured_box_reads_device_and_date_from_the_result(book):
    book.write(
        "benchmarks/results/copy.json", '{"device": "Card 9", "date": "2026-11-20"}'
    )
    book.write("index.md", "# T\n\n:::{measured}\n:result: copy.json\nCopied.\n:::\n")
    assert book.build() == []
    assert "Card 9, 2026-11-20, raw data:" in book.html()


def test_a_prediction_holds_question_unit_and_folded_answer(book):
    book.write(
        "index.md",
        "# T\n\n:::{predict} token-time\n:unit: ms\n:answer: decode.t_mem\n"
        ":also: ~ ms; fig-x\nHow long?\n:::\n",
    )
    assert book.build() == []
    html = book.html()
    assert 'data-predict="token-time" data-unit="ms" data-value="21.07' in html
    assert ' data-also="~ ms; fig-x">' in html
    assert "<summary>Answer</summary>" in html
    assert '<span class="st-q" data-q="decode.t_mem">21.1 ms</span>. Time to' in html
    assert '"decode.t_mem":' in html  # its derivation is on the page
    index = (book.folder / "_build" / "html" / "searchindex.js").read_text("utf-8")
    assert re.search(r"\blong\b", index)
    assert not re.search(r"\b(weight|memori|decod)\b", index)


def test_an_exercise_shows_question_stub_tests_hint_and_solution(book):
    book.write("exercises/01-roofline/01_time.py", EXERCISE)
    book.write("index.md", "# T\n\n:::{exercise-file} 01-roofline/01_time\n:::\n")
    assert book.build() == []
    html = book.html()
    shown, solution = html.split("<summary>Solution</summary>")
    assert 'id="exercise-1-1"' in shown and "estimate" in shown and "P1.1" in shown
    assert "<strong>all</strong>" in shown and 'data-q="decode.t_mem"' in shown
    assert "NotImplementedError" in shown and "test_milliseconds" in shown
    assert "<em>bytes</em>" in shown
    assert "bandwidth" in solution
    assert html.count("st-fold st-held") == 2  # the hint and the solution
    assert "other rooms hold the answer" in shown
    assert "my/01-roofline/01_time.py, then stacklib check 1.1" in book.words()
    assert "---- your" not in html


def test_a_runnable_block_is_a_listing(book):
    book.write("index.md", "# T\n\n:::{pyrun}\nprint(1)\n:::\n")
    assert book.build() == []
    assert re.search(
        r'class="st-pyrun docutils">\s*<div class="highlight-python', book.html()
    )


def test_the_words_are_explained_counted_and_followed_where_they_moved(book):
    parts = "".join(
        f":::{{claims-words}} {p}\n:::\n" for p in ("rules", "count", "moved")
    )
    book.write("index.md", f"# T\n\n{parts}")
    assert book.build() == []
    html, found = book.html(), moved.moved(pages.claims())
    assert "multiply and add apart" in html and "rarer side of the whole" in html
    assert f"Words that moved: {len(found)}" in html
    assert all(f"#claim-{one.judgement.claim.id}" in html for one in found)


def test_a_section_may_show_one_claim_alone(book):
    book.write(
        "index.md", "# T\n\n:::{claims-table} 1\n:only: decode-wait-share\n:::\n"
    )
    assert book.build() == []
    assert book.html().count("<tr") == 2 and "decode-wait-share" in book.words()


def test_the_claims_table_counts_and_opens(book):
    book.write("index.md", "# T\n\n:::{claims-table} 1\n:::\n")
    assert book.build() == []
    assert re.search(r"\d+ claims: .*reproduced", book.html())
    assert 'data-q="claim:' in book.html()


def test_a_chapter_counts_its_claims_and_links_to_them(book):
    book.write("index.md", "# T\n\n:::{claims-count} 1\n:::\n")
    book.write("book/evidence/chapter-1.md", "# Claims\n\n:::{claims-table} 1\n:::\n")
    book.build()
    html = book.html()
    assert re.search(r"\d+ claims: .*reproduced.*right if.*wrong", html)
    assert 'href="book/evidence/chapter-1.html"' in html and "<tr" not in html
    table = book.html("book/evidence/chapter-1")
    assert "st-verdict-right-if" in table and "<tr" in table


def test_the_list_of_assumptions_names_what_stands_on_each(book):
    book.write("index.md", "# T\n\n:::{assumptions}\n:::\n")
    share = assumed(0.5, label="share", why="Two take turns.")
    twice = say("a", b=(chosen(3, "GB", "size") * share, "Half of it."))
    cell = {
        "cell_type": "code",
        "source": "a = 1",
        "metadata": {},
        "execution_count": 1,
        "outputs": [
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {MIME: twice.stored()},
            }
        ],
    }
    page = json.loads(notebook("# Page"))
    page["cells"].append(cell)
    book.write("chapters/01-a/page.ipynb", json.dumps(page))
    book.build()
    assert "share 0.5 Two take turns. Page: 1 number" in book.words()
    assert 'href="chapters/01-a/page.html"' in book.html()


WRONG = [
    ("{predict} a\nHow?", "needs `:answer: NAME`"),
    ("{predict} a\n:answer: decode.tmem\nHow?", "nearest: decode.t_mem"),
    ("{exercise-file} time", "is not like 01-roofline/01_slug"),
    ("{exercise-file} 01-a/01_b", "no file 01-a/01_b.py"),
    ("{claims-table} 77", "'77': no such chapter"),
    ("{claims-table} 1\n:only: decode-wait-shar", "nearest: decode-wait-share"),
    (
        "{measured}\n:result: x.json\nCopied.",
        "no result file benchmarks/results/x.json",
    ),
    ("{pyrun}\ndef (", "does not parse: invalid syntax"),
    ("{takeaway}", "Content block expected"),
]


def test_each_wrong_directive_says_what_is_wrong(book):
    said = book.told([f"# T\n\n:::{text}\n:::\n" for text, _ in WRONG])
    for (text, message), told in zip(WRONG, said, strict=True):
        assert len(told) == 1 and message in told[0], (text, told)


def test_a_changed_style_reaches_pages_that_did_not_change(book, tmp_path):
    import assets

    static = tmp_path / "own" / "_static"
    book.patch.setattr(assets, "STATIC", static)
    book.write("own/_static/book.css", "a { color: red }")
    assert book.build() == []
    book.write("own/_static/book.css", "a { color: blue }")
    assert book.build() == []
    copied = book.folder / "_build" / "html" / "_static" / "book.css"
    assert copied.read_text() == "a { color: blue }"


def test_pages_are_left_alone_while_nothing_changes(book):
    assert book.build() == []
    written = book.folder / "_build" / "html" / "index.html"
    before = written.stat().st_mtime_ns
    assert book.build() == []
    assert written.stat().st_mtime_ns == before


RAN = {"date": "2026-11-21", "python": "3.11.7", "machine": "2 cores"}


def test_a_notebook_page_says_when_and_on_what_it_ran(book):
    book.write("index.ipynb", notebook("# T", stacklib={"executed": RAN}))
    (book.folder / "index.md").unlink()
    assert book.build() == []
    said = "<time>2026-11-21</time> with Python 3.11.7 on 2 cores."
    assert said in book.html()


def test_an_incomplete_record_of_the_run_warns(book):
    ran = {**RAN, "machine": ""}
    book.write("index.ipynb", notebook("# T", stacklib={"executed": ran}))
    (book.folder / "index.md").unlink()
    (warning,) = book.build()
    assert "stacklib.executed lacks machine" in warning


def test_cells_that_say_numbers_stand_in_one_fold_at_the_end(book):
    made = json.loads(notebook("# Page", "Words.", "## Later", "More words."))
    for at in (1, 3):
        made["cells"].insert(
            at,
            {
                "cell_type": "code",
                "execution_count": 1,
                "source": f"say({at})",
                "metadata": {"tags": ["hide-cell"]},
                "outputs": [],
            },
        )
    book.write("page.ipynb", json.dumps(made))
    book.write("index.md", "# Tiny\n\n```{toctree}\npage\n```\n")
    assert book.build() == []
    html = book.html("page")
    assert html.count("<details") == html.count("st-said") == 1
    places = [html.index(said) for said in ("More words", "<details", "say", "</det")]
    assert places == sorted(places)
    inside = re.sub(r"<[^>]*>", "", html[places[1] : places[-1]])
    assert inside.index("say(1)") < inside.index("say(3)")


def test_the_foot_links_the_edition_of_the_book(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    page_meta = importlib.import_module("page_meta")
    text = (ROOT / "book" / "edition.md").read_text("utf-8")
    context = {"pathto": lambda page: f"../{page}.html"}
    app = SimpleNamespace(env=SimpleNamespace(found_docs={"book/edition"}))
    page_meta.add_edition(app, "index", "page.html", context, None)
    links = re.findall(r'href="([^"#]*)#(\w+)"', context["theme_extra_footer"])
    assert {page for page, _ in links} == {"../book/edition.html"}
    assert [id for _, id in links] == re.findall(r"^\((\w+)\)=$", text, re.MULTILINE)
    assert f"Version {__version__}" in context["theme_extra_footer"]
    assert f"**{__version__}**" in text
    app.env.found_docs.clear()
    page_meta.add_edition(app, "index", "page.html", without := {}, None)
    assert without == {}
