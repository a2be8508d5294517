"""What the book says of itself is so, and goes on being so when a chapter lands."""

import json
import re

import pytest
from _tools import contents, coverage_map, itself, readme, tree

from stacklib.pages.chapters import CHAPTERS

from .test_extension import ROOT, book, notebook  # noqa: F401  (a fixture)

PAGE = "chapters/04-kernels/launches.ipynb"


def test_every_sentence_about_the_book_is_so():
    faults = itself.faults()
    assert faults == [], "\n".join(faults)


def test_the_table_has_the_titles_and_folders_of_what_is_written():
    assert list(CHAPTERS) == list(range(1, 11))
    for number, pages in contents.written().items():
        row = CHAPTERS[number]
        assert pages[0].title == row.title
        assert pages[0].document == f"chapters/{row.folder}/index"
        for page in pages:
            said = contents.heading(ROOT / f"{page.document}.ipynb")["number"]
            assert (said or "") == page.number, page.document
    for row in CHAPTERS.values():
        assert row.about.count("? ") == 1 and row.about.endswith("."), row.number


def test_the_map_of_a_chapter_leads_to_each_of_its_sections():
    for number, pages in contents.written().items():
        cells = tree.read_notebook(ROOT / f"{pages[0].document}.ipynb").cells
        shown = json.dumps([cell.get("outputs", []) for cell in cells])
        named = set(re.findall(rf"(?<![\d.]){number}\.\d+(?![\d.])", shown))
        assert named >= {page.number for page in pages[1:] if page.number}, number


def test_the_readme_reads_as_it_is_computed():
    text = (ROOT / "README.md").read_text("utf-8")
    assert readme.filled(text) == text, "make links"
    assert set(re.findall(r"<!-- (\w+) -->", text)) == {*readme.PARTS, "end"}
    assert "](#" not in text  # leads nowhere on a forge
    stale = text.replace("| 4 | Kernels |", "| 4 | Colonels |")
    assert readme.filled(stale) == text != stale


PLANTED = [
    ("The rest stands in chapter 11.", "no chapter 11"),
    ("Chapter 4 will show which.", "'will' beside 'Chapter 4'"),
    ("Batches come later (chapter 8, not written).", "'not written'"),
    ("Queues wait until chapter 8 builds them.", "'chapter 8' is not written"),
    ("How much, is derived in chapter 8.", "'chapter 8' is not written"),
    ("Of its ten chapters and eleven chapters.", "'eleven chapters': there are 10"),
    ("Launches are section 4.1.", "section 4.1 is named without a link"),
    ("See section [4.6](launches.ipynb).", "[4.6] leads to " + PAGE + ", which is 4.1"),
    ("[Section 4.2](launches.ipynb) says.", "which is 4.1"),
    ("[Chapter 3](../02-gpu/index.ipynb) says.", "which is 2"),
    ("Two sections have seen it.", "there are 0 before 4.1"),
    ("It is [the next section](norms.ipynb).", "norms.ipynb, which is 4.3"),
    ("Run `stacklib fitt llama`.", "no command `stacklib fitt`"),
    ("Run `stacklib fit m --onto h100`.", "`stacklib fit` has no --onto"),
    ("Run `make tests`.", "no target `make tests`"),
]
SOUND = (
    "Chapter 4 shows it, and you will see more. That belongs to chapter 8, and to "
    "chapters 5 and 10. Launches: section [4.1](launches.ipynb), or `stacklib new "
    "device my-gpu --vendor A` and `make links`. It will. See [the next section]"
    "(fusion.ipynb)."
)


@pytest.mark.parametrize("planned", [[5, 8, 9, 10], [5, 9, 10]])
def test_planted_sentences_are_caught_whatever_is_written(monkeypatch, planned):
    monkeypatch.setattr(contents, "planned", lambda: planned)
    for text, fault in PLANTED:
        found = list(itself.of_prose(text, PAGE))
        landed = "'chapter 8' is not written" in fault and 8 not in planned
        assert (fault in " ".join(found)) is not landed, (text, found)
    assert list(itself.of_prose(SOUND.replace("you will", "you"), PAGE)) == []


def test_an_annex_has_no_next_section():
    text = "It ends sharply; the next section is about that."
    assert "annex has none" in " ".join(itself.of_prose(text, "chapters/03-m/annex-a"))
    assert list(itself.of_prose(text, PAGE)) == []


def test_a_message_of_the_package_is_read():
    assert list(itself.of_string("They will come in chapter 7.")) != []
    assert list(itself.of_string("As section 4.99 says.")) == [
        "there is no section 4.99"
    ]
    assert list(itself.of_string("arXiv 1, section 9.9; GPU Gems 3, chapter 39.")) == []
    found = (place for place, _ in itself.strings(ROOT))
    assert any(place.startswith("stacklib/pages/") for place in found)


# ---- in a page ----

TOC = """format: jb-book
root: index
parts:
  - chapters:
      - file: chapters/04-kernels/index
        sections:
          - file: chapters/04-kernels/annex-a
          - file: chapters/04-kernels/launches
"""


def test_prose_links_what_is_written_and_marks_what_is_not(book):  # noqa: F811
    names = [f"chapters/04-kernels/{name}" for name in ("index", "annex-a", "launches")]
    for name in names:
        book.write(f"{name}.ipynb", notebook("# 4.1 Kernels"))
    book.write("book/_toc.yml", TOC)
    lines = "\n".join(names)
    tree = f"```{{toctree}}\n{lines}\n```\n"
    book.write(
        "index.md",
        "# Tiny\n\nChapters 4 and 8 have it; `chapter 8`, chapters 8 to 10. It has "
        "{chapters}`written`. By {named-in}`Kernels`, {named-in}`nsys`.\n\n"
        ":::{chapter-list}\n:::\n:::{layer-chapters} 4\n:::\n"
        f":::{{command-list}}\n:::\n:::{{gpu-results}}\n:::\n\n{tree}",
    )
    assert book.build() == []
    words, html = book.words(), book.html()
    assert (
        "Chapters 4 and 8 (planned) have it; chapter 8, chapters 8 to 10 (pl" in words
    )
    assert "It has chapter 4. By 4, none." in words
    assert "8 Inference and serving (planned)" in words
    assert "Chapters: 4 Kernels; 7 Number formats and quantization (planned)." in words
    assert html.count('href="chapters/04-kernels/index.html"') >= 4
    assert "stacklib fit MODEL --on ..." in words and "No result of a GPU" in words


def test_a_result_of_a_gpu_is_named(book):  # noqa: F811
    book.write("benchmarks/results/gpu_h100_sxm.json", "{}")
    book.write("index.md", "# Tiny\n\n:::{gpu-results}\n:::\n")
    assert book.build() == []
    assert "Measured on GPUs: benchmarks/results/gpu_h100_sxm.json." in book.words()


def test_a_chapter_that_shows_only_some_of_its_ids_is_written_in_part(monkeypatch):
    shown = dict(coverage_map.coverage())
    assert contents.status(1) == "written" and contents.status(10) == "written"
    del shown["1.02"]
    monkeypatch.setattr(contents.coverage_map, "coverage", lambda root: shown)
    contents.finished.cache_clear()
    assert contents.status(1) == "in part" and 1 not in contents.finished()
    contents.finished.cache_clear()
