"""The first use of each term links to the glossary, later ones do not."""

import re

import pytest
import yaml
from _ext import first_terms

from . import needs
from .test_extension import CONFIG, ROOT, book, notebook  # noqa: F401

GLOSSARY = "# Glossary\n\n:::{glossary}\n" + "".join(
    f"{term}\n  What it is.\n\n" for term in ("bank", "bank conflict", "L2", "yield")
)
LINK = re.compile(r'<a class="reference internal" href="[^"]*#term-([\w-]+)"')


@pytest.fixture
def pages(book, monkeypatch):  # noqa: F811
    """``pages(first, second)``: the terms each links to, read in the other order."""
    monkeypatch.setitem(CONFIG, "extensions", [*CONFIG["extensions"], "first_terms"])

    def build(first: str, second: str) -> list[list[str]]:
        tree = "```{toctree}\nchapters/b\nchapters/a\nbook/glossary\n```\n"
        book.write("index.md", f"# Tiny\n\n{tree}")
        book.write("book/glossary.md", GLOSSARY + ":::\n")
        book.write("chapters/b.ipynb", notebook("# One", first))
        book.write("chapters/a.ipynb", notebook("# Two", second))
        assert book.build() == []
        first_terms.terms.cache_clear()
        first_terms.pattern.cache_clear()
        return [LINK.findall(book.html(f"chapters/{name}")) for name in "ba"]

    return build


def test_a_term_links_where_the_book_uses_it_first(pages):
    first, second = pages("Bank conflicts, a bank.", "A bank conflict of an L2.")
    assert (first, second) == (["bank-conflict", "bank"], ["L2"])


def test_titles_code_links_and_everyday_words_are_left(pages):
    first, second = pages(
        "## The L2\n\n`L2`, [an L2](https://example.org) yield an L20.", "An L2"
    )
    assert (first, second) == ([], ["L2"])


# ---- the built book ----

EARLY = ("L2", "tensor core", "HBM", "prefill", "sector", "bank conflict", "KV cache")
SENTENCE = re.compile(r"<(p|li)\b[^>]*>(.*?)</\1>", re.S)
NOT_PROSE = re.compile(
    r"<(code|script|summary|button)\b.*?</\1>|<a (?![^>]*#term-).*?</a>"
    r'|<span class="(st-q|math)[ "].*?</span>',
    re.S,
)


def in_order() -> list[str]:
    """The pages of the book as the contents list them."""
    contents = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text("utf-8"))
    listed = [chapter for part in contents["parts"] for chapter in part["chapters"]]
    below = [[chapter, *chapter.get("sections", ())] for chapter in listed]
    return [contents["root"], *(page["file"] for some in below for page in some)]


def first_sentence(term: str, pages: list[str], built) -> tuple[str, str]:
    """The first page and sentence that use a term."""
    word = re.compile(rf"(?<![\w-]){term}s?(?![\w-])", re.I if term.islower() else 0)
    for page in pages:
        html = (built / f"{page}.html").read_text("utf-8")
        article = html[html.index("<article") : html.index("</article>")]
        for _, sentence in SENTENCE.findall(article):
            words = re.sub(r"<[^>]*>", "", NOT_PROSE.sub("", sentence))
            if word.search(words):
                return page, sentence
    raise AssertionError(f"no page uses {term}")


def test_the_first_use_of_early_terms_is_a_link():
    built = needs.built_book(tests="glossary")
    pages = [page for page in in_order() if page != "book/stack-map"]
    for term in EARLY:
        page, sentence = first_sentence(term, pages, built)
        assert f"#term-{term.replace(' ', '-')}" in sentence, (term, page, sentence)
