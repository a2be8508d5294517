"""A page is light before it is touched, and lies well on a phone.

The fast set weighs a page with formulas and the longest one; the slow set all pages.
"""

import gzip
import io
import re
import urllib.request

import formulas
import icons
import pytest
from fontTools.ttLib import TTFont

from . import browser as b
from . import needs, weight

pytestmark = pytest.mark.browser

SAMPLE = ["chapters/01-roofline/counting.html", "book/evidence/claims.html"]
SHARES = [SAMPLE, pytest.param(None, marks=pytest.mark.slow, id="all")]


@pytest.fixture(scope="module")
def slow_line(built):
    """Address of the built book, from the server of ``make open``."""
    with b.serve(built, weight.Quiet) as base:
        yield base


@pytest.mark.parametrize("paths", SHARES)
def test_a_page_is_light_and_painted_soon(slow_line, browser, paths):
    faults = []
    for path in paths or b.texts(needs.BUILT):
        inside = b.context(browser, "light-phone")
        faults += weight.weigh(inside, slow_line, path).faults()
        inside.close()
    assert not faults, "\n".join(faults)


def test_what_is_heavy_is_caught(tmp_path, browser):
    blob = "x" * 10 + "".join(f"{n * 7919 % 100003:x}" for n in range(300_000))
    page = '<script src="a.js"></script><link rel="icon" href="data:,">late'
    (tmp_path / "heavy.html").write_text(page)
    (tmp_path / "a.js").write_text(f"// {blob}")
    with b.serve(tmp_path, weight.Quiet) as base:
        found = weight.weigh(b.context(browser), base, "heavy.html")
    assert len(list(found.faults())) == 2, found


def test_the_server_of_make_open_compresses_what_it_may(tmp_path):
    (tmp_path / "a.css").write_text("b { }\n" * 999)
    (tmp_path / "a.woff2").write_bytes(b"font")
    with b.serve(tmp_path, weight.Quiet) as base:
        for name, takes, packed in [
            ("a.css", "gzip", True),
            ("a.css", "identity", False),
            ("a.woff2", "gzip", False),
        ]:
            asked = urllib.request.Request(base + name)
            asked.add_header("Accept-Encoding", takes)
            with urllib.request.urlopen(asked) as answer:
                body = answer.read()
                assert (answer.headers["Content-Encoding"] == "gzip") is packed
            body = gzip.decompress(body) if packed else body
            assert body == (tmp_path / name).read_bytes()


# ---- what makes it light ----


def test_every_icon_on_a_page_is_in_our_font(built, tmp_path):
    text = "".join((built / p).read_text(encoding="utf-8") for p in b.texts(built)[::9])
    shown = {*re.findall(r'class="[^"]*\b(?:fas|fa-solid) fa-([a-z-]+)', text)}
    assert shown and shown - {*icons.SHOWN} == set()
    icons.cut(tmp_path / "icons.woff")
    held = TTFont(io.BytesIO((tmp_path / "icons.woff").read_bytes())).getBestCmap()
    named = icons.BOXES.sub("", icons.STYLE.read_text(encoding="utf-8"))
    assert icons.codes(named) <= {*held}


def test_an_icon_that_the_theme_lacks_is_named():
    with pytest.raises(ValueError, match="no icon 'unicorn'"):
        icons.codes("", ["unicorn"])


@pytest.fixture
def mathjax():
    """MathJax, where it was vendored."""
    if not formulas.MATHJAX.exists():
        needs.unavailable("no MathJax; run `make book`", "formula")


def test_a_formula_is_drawn_and_can_be_read_aloud(mathjax):
    made = formulas.typeset(r"\frac{F}{B} \ge \text{ridge}", True)
    assert "<path" in made and "<mfrac>" in made and "<mtext>ridge</mtext>" in made


@pytest.mark.parametrize("tex", [r"\nosuch", r"\frac{1", "a_b_c"])
def test_a_formula_that_cannot_be_set_is_refused(mathjax, tex):
    with pytest.raises(ValueError, match=re.escape(tex)):
        formulas.typeset(tex, False)


# ---- on a phone ----

PHONE_SAMPLE = [
    "chapters/01-roofline/roofline.html",
    "chapters/03-memory/tiers.html",
    "book/hardware/h100_sxm.html",
]
PHONE_SHARES = [PHONE_SAMPLE, pytest.param(None, marks=pytest.mark.slow, id="all")]


@pytest.mark.parametrize("paths", PHONE_SHARES)
def test_little_of_a_page_must_be_pushed_sideways(served, fresh, paths):
    page, faults = fresh(served, "light-phone")
    for path in paths or b.texts(needs.BUILT):
        page.goto(served + path)
        faults += weight.phone_faults(page)
    assert not faults, "\n".join(faults)
