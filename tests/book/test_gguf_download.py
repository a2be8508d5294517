"""The file that the book serves is the one that its page speaks of."""

import json
from types import SimpleNamespace

import gguf_download as extension
import pytest
from _tools import tree

from stacklib.pages.quantizers import files as page

NOTEBOOK = tree.ROOT / "chapters/07-quantizers/files.ipynb"


@pytest.mark.parametrize("form", ["html", "latex"])
def test_the_built_book_has_the_file(tmp_path, form):
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format=form))
    written = tmp_path / "_static" / extension.NAME
    extension.write(app, None)
    assert written.exists() == (form == "html")
    if form == "html":
        assert written.read_bytes() == page.file_bytes()


def test_a_second_build_replaces_it(tmp_path, monkeypatch):
    monkeypatch.setattr(extension, "quantized", lambda *_: page.made())
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    written = tmp_path / "_static" / extension.NAME
    written.parent.mkdir()
    written.write_bytes(b"of an older build")
    extension.write(app, None)
    assert written.read_bytes() == page.file_bytes()


def test_a_failed_build_writes_none(tmp_path):
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    extension.write(app, ValueError("a page failed"))
    assert not any(tmp_path.iterdir())


def test_the_page_links_to_it():
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells)
    assert f'href="../../_static/{extension.NAME}"' in text
