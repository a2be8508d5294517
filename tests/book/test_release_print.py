"""The PDF: pages become one document, nothing is cut, and the text is all there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from _tools import (
    release,
    release_book,
    release_page,
    release_paper,
    release_pdf,
    said,
)
from _tools.release_page import PrintError
from bs4 import BeautifulSoup

# ---- one document of many pages ----

PAGE = """<html><head><link rel="stylesheet" href="{up}_static/a.css"></head>
<body><nav>menu</nav><article class="bd-article"><section id="top">
<h1>{title}<a class="headerlink" href="#top">#</a></h1>{body}</section>
</article></body></html>"""
TOC = """
root: home
parts:
  - caption: Part
    chapters:
      - file: in/one
        sections:
          - file: in/two
"""


@pytest.fixture
def toy(tmp_path):
    """``toy(home=..., one=..., two=...)``: a built book of three pages, and its toc."""

    def write(**bodies):
        book = tmp_path / "html"
        (book / "in").mkdir(parents=True, exist_ok=True)
        (book / "_static").mkdir(exist_ok=True)
        (book / "_static" / "a.css").write_text("")
        (book / "genindex.html").write_text("not a page of the book")
        for name, up in (("home", ""), ("in/one", "../"), ("in/two", "../")):
            title, body = f"Page {Path(name).name}", bodies.get(Path(name).name, "")
            text = PAGE.format(up=up, title=title, body=body)
            (book / f"{name}.html").write_text(text)
        toc = tmp_path / "_toc.yml"
        toc.write_text(TOC)
        return book, toc

    return write


def document(book: Path, toc: Path) -> BeautifulSoup:
    """The parsed printable page of a toy book."""
    return release_page.parsed(
        release_book.printable(book, release_book.outline(toc), "Toy <b>", "1.0")
    )


def test_pages_stand_in_reading_order_each_id_once(toy):
    made = document(*toy())
    titles = [h.get_text() for h in made.select("article h1")]
    assert titles == ["Page home", "Page one", "Page two"]
    rows = [a.get_text() for a in made.select(".pr-row a:first-child")]
    assert rows == titles and made.select_one(".pr-part").get_text() == "Part"
    ids = [element["id"] for element in made.select("[id]")]
    assert len(ids) == len(set(ids))
    assert made.title.get_text() == "Toy <b>" and not made.select("nav:not([class])")


def test_links_lead_into_the_document(toy):
    links = (
        '<a href="in/two.html#here">a</a> <a href="in/one.html">b</a> '
        '<a href="#top">c</a> <a href="https://example.org/">d</a> '
        '<a href="genindex.html">e</a>'
    )
    made = document(*toy(home=links, two='<p id="here">found</p>'))
    found = {a.get_text(): a["href"] for a in made.select("article a")}
    assert set(found) == {"a", "b", "c", "d"}
    assert made.select_one(found["a"]).get_text() == "found"
    assert made.select_one(found["b"]).h1.get_text() == "Page one"
    assert made.select_one(found["c"]).h1.get_text() == "Page home"
    assert found["d"] == "https://example.org/"


def test_drawings_and_labels_keep_what_they_point_at(toy):
    drawing = (
        '<figure aria-labelledby="t"><figcaption id="t">x</figcaption>'
        '<svg viewBox="0 0 1 1"><clipPath id="c"></clipPath><path id="m"/>'
        '<g clip-path="url(#c)" style="fill: url(\'#c\')"><use xlink:href="#m"/></g>'
        '</svg></figure><img src="../_images/a.png">'
    )
    made = document(*toy(one=drawing, two=drawing))
    assert [i["src"] for i in made.select("img")] == ["_images/a.png"] * 2
    for figure in made.select("figure"):
        clip = figure.find("clippath")["id"]
        assert figure["aria-labelledby"] == figure.figcaption["id"]
        assert figure.g["clip-path"] == f"url(#{clip})" and clip in figure.g["style"]
        assert figure.use["xlink:href"] == f"#{figure.path['id']}"


def test_answers_move_to_the_end_and_other_folds_open(toy):
    exercise = (
        '<div class="st-exercise"><p class="st-exercise-title"><strong>Exercise 1.1'
        '</strong> <span class="st-exercise-name">Divide</span></p>'
        "<details><summary>Tests</summary>t</details>"
        "<details><summary>Hint</summary>h</details>"
        "<details><summary>Solution</summary>s</details></div>"
        "<details><summary>Answer</summary>not of a prediction</details>"
    )
    made = document(*toy(one=exercise))
    left = made.select("article details")
    assert [d.summary.get_text() for d in left] == ["Tests", "Answer"]
    assert all("open" in d.attrs for d in left)
    for part, word in (("hints", "hint"), ("answers", "solution")):
        heading = made.select_one(f"#{part} h2")
        assert heading.get_text().startswith(f"Exercise 1.1, Divide: {word}")
        back = made.select_one(heading.a["href"])
        assert made.select_one(back.a["href"]) is heading


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("two.html#no", r"in/one\.html links to two\.html#no: no such anchor"),
        ("three.html", r"in/one\.html links to three\.html: no such file"),
    ],
)
def test_a_dead_link_is_refused(toy, link, fault):
    with pytest.raises(PrintError, match=fault):
        document(*toy(one=f'<a href="{link}">x</a>'))


def test_a_page_of_the_contents_that_was_not_built_is_named(toy):
    book, toc = toy()
    (book / "in" / "two.html").unlink()
    with pytest.raises(PrintError, match=r"in/two\.html is not in the built book"):
        document(book, toc)


OUTPUT = (
    '<div class="cell"><details class="hide"><summary><p>Show code cell output</p>'
    '</summary><div class="cell_output">the rest</div></details></div>'
)
FIGURE = (
    '<div class="cell"><details class="hide"><summary><p>Show code cell source</p>'
    '</summary><div class="cell_input"><pre>x = 1</pre></div></details>'
    '<div class="cell_output">drawn</div></div>'
)


def test_the_code_of_a_figure_is_one_line(toy):
    made = document(*toy(one=FIGURE + OUTPUT))
    assert made.select_one(".pr-code").get_text() == "Code: in/one.ipynb"
    assert "drawn" in made.get_text() and "x = 1" not in made.get_text()
    assert "the rest" in made.get_text() and "Show code" not in made.get_text()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("It opens. Click one.", "It opens."),
        (
            "Which helps? Move the sliders. Then look for it. It is slow.",
            "Which helps? It is slow.",
        ),
        ("Turn the knobs. Start by finding the size.", ""),
        (
            "Try it. Now move them apart. A key is pressed.",
            "Try it. Now move them apart. A key is pressed.",
        ),
    ],
)
def test_what_is_asked_of_a_screen_is_not_printed(toy, said, left):
    made = document(*toy(one=f'<p class="x">{said}</p><p class="st-screen">Tap.</p>'))
    assert made.select_one("p.x").get_text() == left
    assert not made.select(".st-screen")


def test_words_of_a_screen_are_found():
    page = release_page.parsed("<p>Hover here.</p><pre>slider</pre><p>Fine.</p>")
    assert list(release_paper.screen_words(page)) == ["Hover here."]


def test_when_a_page_ran_stands_at_its_head(toy):
    made = document(*toy(one='<p>Last.</p><p class="st-ran">It ran.</p>'))
    assert made.select_one(".st-ran").find_previous_sibling().name == "h1"


def test_a_volume_prints_its_parts_alone(toy):
    _, toc = toy()
    assert release_book.outline(toc, ["Part"])[0].text == "home"
    with pytest.raises(PrintError, match=r"_toc\.yml has no part Nowhere"):
        release_book.outline(toc, ["Nowhere"])


def test_a_chapter_and_its_sections_run_on_under_one_head(toy):
    fold = "<details><summary>Answer</summary>4</details>"
    made = document(*toy(one=f'<div class="st-prediction">{fold}</div>'))
    found = [
        [h.get_text() for h in run.select("h1")] for run in made.select("div.pr-run")
    ]
    assert found == [["Page home"], ["Page one", "Page two"], ["Answers"]]
    heads = re.findall(r"@page run.*content: \"(.*?)\"", made.style.get_text())
    assert heads == ["Part", "Page one", "Hints and answers"]


def test_the_volumes_hold_every_page_once():
    whole = [line.text for line in release_book.outline(release.TOC)]
    parts = [release_book.outline(release.TOC, v) for v in release.VOLUMES.values()]
    assert [line.text for part in parts for line in part] == whole


def files() -> list[str]:
    """The pages of the printed book."""
    lines = release_book.outline(release.TOC, release.VOLUMES["book"])
    return [line.text for line in lines if line.depth]


SHARES = [12, pytest.param(1, marks=pytest.mark.slow, id="all")]


@pytest.mark.parametrize("step", SHARES)
def test_no_words_of_a_screen_are_left_in_the_book(built, step):
    left = {}
    for file in files()[::step]:
        one = release_page.sheet(release_page.read(built, file), file, 0)
        left[file] = list(release_paper.screen_words(one.article))
    assert {file: words for file, words in left.items() if words} == {}


# ---- on paper ----


def text_of(pdf: bytes, tmp_path: Path) -> list[str]:
    """The text of each page."""
    if shutil.which("pdftotext") is None:
        pytest.skip("text of the PDF: not run (no pdftotext)")
    path = tmp_path / "printed.pdf"
    path.write_bytes(pdf)
    command = ["pdftotext", "-layout", str(path), "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode().split("\f")[:-1]


def printed(toy_book, program: str) -> bytes:
    """The PDF of a toy book."""
    book, toc = toy_book
    text = release_book.printable(book, release_book.outline(toc), "Toy", "1.0")
    return release_pdf.print_pdf(text, book, program)


@pytest.mark.browser
def test_pages_carry_true_numbers(toy, chromium, tmp_path):
    pdf = printed(toy(one="<p>long</p>" * 99, two="<pre>x</pre>"), chromium)
    pages = text_of(pdf, tmp_path)
    assert len(pages) == len(release_pdf.page_order(pdf)) >= 6
    rows = dict(re.findall(r"(Page \w+)\W+(\d+)\n", pages[1]))
    assert list(rows) == ["Page home", "Page one", "Page two"]
    heads = ["Part", "Page one", "Page one"]  # a section runs on under its chapter's
    for (title, number), head in zip(rows.items(), heads, strict=True):
        page = pages[int(number) - 1]
        assert title in page and page.strip().startswith(head)
        assert page.split()[-1] == number


@pytest.mark.browser
@pytest.mark.slow
def test_equal_documents_print_equal_bytes(toy, chromium):
    book = toy()
    assert printed(book, chromium) == printed(book, chromium)


@pytest.mark.browser
def test_what_paper_would_cut_or_miss_is_refused(toy, chromium):
    faults = {
        '<div style="width: 30cm">wide</div>': '<div class="">: wide',
        f"<table><td>{'x' * 200}</table>": '<td class="">: xxx',
        '<div style="overflow: hidden"><p style="width: 30cm">cut</p></div>': (
            '<div class="">: cut'
        ),
        '<img src="none.png">': "not in the built book: http://book.invalid/in/none.png",
        '<img src="https://example.org/a.png">': "book: https://example.org/a.png",
    }
    with pytest.raises(PrintError) as refused:
        printed(toy(one="".join(faults)), chromium)
    assert [said for said in faults.values() if said not in str(refused.value)] == []


@pytest.mark.browser
def test_a_long_line_of_code_is_wrapped(toy, chromium, tmp_path):
    words = [f"word{n}" for n in range(60)]
    body = f'<div class="highlight"><pre>{"_".join(words)}</pre></div>'
    pages = text_of(printed(toy(one=body), chromium), tmp_path)
    (page,) = (p for p in pages if "word1_" in p)
    assert "_".join(words) in "".join(page.split())


def test_a_program_that_is_no_chromium_is_named(toy, monkeypatch):
    with pytest.raises(PrintError, match=r"^\S*false does not start"):
        printed(toy(), shutil.which("false"))
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    assert release_pdf.chromium() is None


# ---- the book ----

FEWEST_WORDS = 24  # of a page that is worth its paper


@pytest.fixture(scope="module")
def pdf(built, chromium, tmp_path_factory):
    """The printed book, without its reference."""
    folder = tmp_path_factory.mktemp("pdf")
    return release.pdf(folder, chromium, "book", built).read_bytes()


@pytest.fixture(scope="module")
def pages(pdf, tmp_path_factory):
    """The text of each page of the printed book."""
    return text_of(pdf, tmp_path_factory.mktemp("text"))


@pytest.mark.slow
def test_the_pdf_says_what_the_book_says(pages):
    text = " ".join(" ".join(pages).split())
    assert "Why does one token take so long?" in text
    assert f"It takes at least {said.numbers()['decode.t_mem'].text}." in text
    assert "A decode step sits far to the left of every ridge." in text


@pytest.mark.slow
def test_every_heading_of_the_book_is_in_the_pdf(pages, built):
    text = "".join("".join(pages).split())
    for file in files():
        article = release_page.read(built, file).find("article")
        for heading in article.select("h1, h2, h3, figcaption, caption"):
            for link in heading.select(".headerlink"):
                link.decompose()
            assert "".join(heading.get_text().split()) in text, file


@pytest.mark.slow
def test_no_page_is_empty_and_each_is_numbered(pdf, pages):
    assert len(pages) == len(release_pdf.page_order(pdf))
    for number, page in enumerate(pages[1:], 2):
        running, *_ = page.strip().splitlines()
        assert page.split()[-1] == str(number)
        said = len(page.split()) - len(running.split())
        assert said > FEWEST_WORDS, f"page {number}: {page}"


@pytest.mark.slow
def test_the_pdf_has_bookmarks_to_every_page_of_the_book(pdf):
    titles = re.findall(rb"/Title \((.*?)\)\n", pdf)
    assert any(b"Why does one token take so long?" in title for title in titles)
    assert len(titles) > len(files())


@pytest.mark.slow
def test_the_book_is_no_more_than_paper_can_bear(pdf):
    chapters = len(list((release.tree.ROOT / "chapters").glob("[0-9]*")))
    assert len(release_pdf.page_order(pdf)) <= 140 * chapters
    assert len(pdf) <= 20e6 / 3 * chapters
