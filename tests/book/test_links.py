"""The built book links only to what exists and loads nothing from elsewhere."""

from pathlib import Path

import pytest
from _tools import links

PAGE = """<html><head><link rel="stylesheet" href="_static/a.css?v=1">
<link rel="canonical" href="https://a.org/"></head><body id="top">
<a href="#top">up</a> <a href="#top:sort=a">sorted</a>
<a href="sub/b.html#two%20words">b</a> <a href="sub/">dir</a>
<a href="https://a.org/x">out</a> <a href="mailto:a@b.org">mail</a>
<img src="data:image/png;base64,AA=="> <script src="_static/a.js"></script>
{planted}</body></html>"""
OTHER = '<html><body><h1 id="two words">b</h1><a href="../a.html">a</a></body></html>'


def test_every_link_of_the_built_book_resolves():
    if not links.BUILT.is_dir():
        pytest.skip("link check: not run (book not built)")
    faults = links.faults()
    assert faults == [], "\n".join(faults)


def build(folder: Path, planted: str = "", css: str = "") -> Path:
    """A small built book with something planted in it."""
    (folder / "_static").mkdir(exist_ok=True)
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "a.html").write_text(PAGE.replace("{planted}", planted))
    (folder / "sub" / "b.html").write_text(OTHER)
    (folder / "sub" / "index.html").write_text(OTHER)
    (folder / "_static" / "a.css").write_text(css)
    (folder / "_static" / "a.js").write_text("")
    return folder


def test_a_sound_book_passes(tmp_path: Path):
    assert links.faults(build(tmp_path, css="p {background: url('b.png')}")) == []


PLANTED = [
    ('<a href="c.html">', "a.html: link to c.html: no such file"),
    (
        '<a href="#q:decode.t_mem">',
        "link to #q:decode.t_mem: no anchor #q:decode.t_mem",
    ),
    ('<a href="sub/b.html#three">', "link to sub/b.html#three: no anchor #three there"),
    ('<a href="http://a.org">', "link to http://a.org; outside links are https"),
    ('<a href="//a.org/x">', "link to //a.org/x; outside links are https"),
    ('<img src="no.png">', "loads no.png: no such file"),
    ('<img srcset="no.png 2x">', "loads no.png: no such file"),
    ('<img src="https://a.org/a.png">', "loads https://a.org/a.png from outside"),
    ('<script src="https://a.org/a.js"></script>', "loads https://a.org/a.js from"),
    ('<script src="//a.org/a.js"></script>', "loads //a.org/a.js from outside"),
    ('<link rel="stylesheet" href="https://a.org/a.css">', "a.org/a.css from outside"),
    ('<link rel="preconnect" href="https://a.org">', "loads https://a.org from"),
    ('<style>@import "https://a.org/f.css"</style>', "a.org/f.css from outside"),
    ('<p style="background: url(https://a.org/a.png)">', "a.org/a.png from outside"),
    ("<script>import 'https://a.org/m.mjs'</script>", "a.org/m.mjs from outside"),
    ("<script>import m from 'https://a.org/m.js'</script>", "a.org/m.js from outside"),
    ("<script>await import('https://a.org/n.js')</script>", "a.org/n.js from outside"),
    ('<iframe src="https://a.org"></iframe>', "loads https://a.org from outside"),
]


@pytest.mark.rows(("planted", "message"), PLANTED)
def test_a_planted_fault_is_named(tmp_path: Path, planted: str, message: str):
    (fault,) = links.faults(build(tmp_path, planted))
    assert message in fault


def test_a_font_from_elsewhere_is_a_fault(tmp_path: Path):
    built = build(tmp_path, css="@font-face {src: url(https://a.org/f.woff2)}")
    assert links.faults(built) == [
        "_static/a.css: loads https://a.org/f.woff2 from outside the book"
    ]


def test_a_book_that_was_not_built_is_a_fault(tmp_path: Path):
    (fault,) = links.faults(tmp_path / "nothing")
    assert "run make book" in fault
