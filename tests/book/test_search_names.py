"""The search index of a book built in part still knows every name."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx.search", reason="the book's tools are not installed")

sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
Names = importlib.import_module("search_names").Names


def builder():
    kept = ("titles", "filenames", "mapping", "title_mapping", "all_titles")
    kept += ("index_entries", "objtypes", "objnames")
    env = SimpleNamespace(version="1", domains={})
    for name in kept:
        setattr(env, f"_search_index_{name}", {})
    return Names(env, "en", {}, "")


def filled():
    made = builder()
    for page, name in (("a", "ridge"), ("b", "warp"), ("c", "sector")):
        made._titles[page], made._filenames[page] = page.upper(), f"{page}.md"
        made._all_titles[page] = []
        made._index_entries[page] = [(name, f"term-{name}", "main")]
    return made


def stored(made):
    stream = io.StringIO()
    made.dump(stream, "json")
    stream.seek(0)
    return stream


def test_names_come_back_and_those_of_a_page_that_is_gone_do_not():
    again = builder()
    again.load(stored(filled()), "json")
    assert again.freeze() == filled().freeze()
    again.prune(["a", "c"])
    assert set(again.freeze()["indexentries"]) == {"ridge", "sector"}


def test_sphinx_alone_forgets_them():
    """Where this fails, the extension is no longer needed."""
    forgetful = super(Names, builder()).load
    again = forgetful.__self__
    forgetful(stored(filled()), "json")
    assert not again.freeze()["indexentries"]
