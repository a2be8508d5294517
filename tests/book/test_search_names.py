"""The search index: what a row holds, and what is kept of a book built in part."""

import io
import re
from types import SimpleNamespace

import pytest
import search_names as search
from _tools import tree
from computed_links import computed_number
from docutils import nodes
from first_terms import found_by
from predict import prediction
from sphinx.search import js_index


def page(*held, title="Caches"):
    """A page of one section."""
    document = nodes.document(None, None)
    document += nodes.section("", nodes.title("", title), *held, ids=["caches"])
    return document


def builder():
    kept = "titles filenames mapping title_mapping all_titles index_entries".split()
    env = SimpleNamespace(version="1", domains={})
    for name in (*kept, "objtypes", "objnames"):
        setattr(env, f"_search_index_{name}", {})
    return search.Rows(env, "en", {}, "")


def test_a_section_says_its_sentences_and_lists_its_code():
    inner = nodes.section("", nodes.title("", "Sets"), nodes.paragraph("", "Rows."))
    label = nodes.paragraph("", "Takeaway", classes=["st-box-title"])
    markup = "<script>{}</script><b>Belady</b>"
    held = (
        found_by("cache", "line"),
        nodes.container("", label, nodes.paragraph("", "Near is fast.")),
        nodes.literal_block("", "lru = Cache(64)"),
        nodes.raw("", markup, format="html"),
        inner,
    )
    outer, below = search.rows(page(*held))
    assert outer == (
        "Caches",
        "caches",
        "cache\nline",
        "Near is fast.",
        "belady cache lru",
    )
    assert below[0] == "Sets" and below[3] == "Rows."


def test_the_answer_of_a_prediction_is_not_said():
    number = computed_number("", "21 ms")
    number["data-q"] = "decode.t_mem"
    sentence = nodes.paragraph("", "", nodes.Text("It takes "), number)
    assert next(search.rows(page(sentence)))[3] == "It takes 21 ms"
    asking = prediction(shows="decode.t_mem")
    assert next(search.rows(page(asking, sentence)))[3] == "It takes …"


def test_a_book_built_in_part_keeps_the_rows_of_its_other_pages():
    made, again, stream = builder(), builder(), io.StringIO()
    for name in ("a", "b", "c"):
        made.feed(name, f"{name}.md", name, page(title=name.upper()))
    made.dump(stream, js_index)
    stream.seek(0)
    again.load(stream, js_index)
    assert again.freeze() == made.freeze()
    again.prune(["a", "c"])
    assert set(again.freeze()["pages"]) == {"a", "c"}
    with pytest.raises(ValueError, match="old format"):
        again.load(io.StringIO('Search.setIndex({"terms": {}})'), js_index)


def test_every_section_has_names_and_every_name_a_page():
    named = set(search.names_of_pages())
    pages = {tree.name(p).removesuffix(".ipynb") for p in tree.notebooks()}
    sections = {p for p in pages if re.match(r"chapters/(?!.*/(annex|index))", p)}
    assert not sections - named
    assert not [p for p in named - pages if not (tree.ROOT / f"{p}.md").exists()]
