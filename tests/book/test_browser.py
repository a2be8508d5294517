"""The built book in a real browser, cut off from every network.

The fast set opens pages drawn by the tree, some in the light on a desktop and others in
the dark on a phone, and tries what needs Python, a reload or no script on a few; `slow`
is the whole of it: each page in both themes on both devices.
"""

import json
import re
from functools import cache
from shutil import copy

import pytest
from _tools import tree

from . import browser as b
from .needs import BUILT

pytestmark = pytest.mark.browser

FAST = ("light-desktop", "dark-phone")


@cache
def having(*markers: str) -> list[str]:
    """The pages whose HTML holds each marker."""
    texts = {p: (BUILT / p).read_text(encoding="utf-8") for p in b.texts(BUILT)}
    return [path for path, text in texts.items() if all(m in text for m in markers)]


def sparse(few: int):
    """Test so many pages in the fast set, and all of them in the slow one."""
    whole = pytest.param(None, marks=pytest.mark.slow)
    return pytest.mark.parametrize("few", [few, whole])


SHARES = [
    *(pytest.param(look, 8, id=f"{look}-some") for look in FAST),
    *(pytest.param(look, None, id=look, marks=pytest.mark.slow) for look in b.LOOKS),
]


@pytest.mark.parametrize(("look", "few"), SHARES)
def test_pages_ask_only_their_host_raise_no_error_can_be_read_and_open_their_numbers(
    served, fresh, look, few
):
    paths = b.some(b.texts(BUILT), few, look) if few else b.pages(BUILT)
    page, faults = fresh(served, look)
    assert having('id="st-quantities"'), "no page holds a computed number"
    opened = b.open_by_tap if look.endswith("phone") else b.open_by_key
    for path in paths:
        page.goto(served + path)
        faults += b.overflow_faults(page)
        faults += b.contrast_faults(page)
        faults += b.stale_faults(page)
        faults += b.number_faults(page, opened)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("look", ["light-desktop", "dark-desktop"])
def test_every_colour_of_the_book_reads_on_both_papers(visit, look):
    page, _ = visit(having('id="st-quantities"')[0], look)
    for name, ratios in b.palette(page).items():
        least = 3 if name == "line" else 4.5
        assert min(ratios) >= least, f"--st-{name} has contrast {ratios}"


def test_an_opened_number_can_be_read(visit):
    faults = []
    for look in FAST:
        page, _ = visit(having('id="st-quantities"')[0], look)
        b.open_by_key(page, page.locator(".st-q[role]:visible").first)
        page.locator("#st-popover details").evaluate_all(
            "all => all.map(d => d.open = true)"
        )
        faults += b.contrast_faults(page) + b.overflow_faults(page)
    assert not faults, "\n".join(faults)


LIVE = 'class="st-live"'


def test_live_figures_say_what_python_says_and_blocks_run(served, fresh):
    """On a few pages that have both: starting Python costs most."""
    page, faults = fresh(served)
    paths = having(LIVE, "st-pyrun")
    assert paths, "no page holds a live figure and a runnable block"
    for path in b.some(paths, 3, "live"):
        page.goto(served + path)
        faults += b.live_faults(page, 3) + b.pyrun_faults(page)
        faults += b.contrast_faults(page) + b.overflow_faults(page)
    assert not faults, "\n".join(faults)


@pytest.mark.slow
@pytest.mark.parametrize(("look", "rounds"), [("light-desktop", 8), ("dark-phone", 3)])
def test_every_live_figure_says_what_python_says(served, fresh, look, rounds):
    page, faults = fresh(served, look)
    for path in having(LIVE):
        page.goto(served + path)
        faults += b.live_faults(page, rounds) + b.contrast_faults(page)
        faults += b.overflow_faults(page)
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_every_runnable_block_runs(served, fresh):
    page, faults = fresh(served)
    for path in having("st-pyrun"):
        page.goto(served + path)
        faults += b.pyrun_faults(page)
    assert not faults, "\n".join(faults)


def test_a_running_program_can_be_stopped_and_run_again(visit):
    page, faults = visit(having("st-pyrun")[0])
    faults += b.pyrun_faults(page)
    block = page.locator(".st-pyrun").first
    run, output = block.locator(".st-run"), block.locator(".st-pyrun-output")
    block.locator("textarea").fill("while True: pass")
    run.click()
    run.filter(has_text="Stop").click()
    output.filter(has_text="Stopped.").wait_for()
    block.locator(".st-reset").click()
    assert not b.pyrun_faults(page) + faults


def test_a_python_that_cannot_start_is_told_in_place(served, fresh):
    page, _ = fresh(served)
    page.context.route("**/*.wasm", lambda route: route.abort())
    page.goto(served + having(LIVE)[0])
    figure = page.locator(".st-live").first
    figure.locator("[data-control]").first.focus()
    page.keyboard.press("ArrowDown")
    told = figure.locator(".st-live-status").filter(has_text="Python could not start")
    told.wait_for()
    assert figure.locator(".st-live-static").is_visible()


@sparse(4)
def test_predictions_are_kept_and_answered(served, fresh, few):
    page, faults = fresh(served, "dark-phone", asked=True)
    paths = having("st-prediction")
    assert paths, "no page holds a prediction"
    for path in b.some(paths, few, "predictions"):
        page.goto(served + path)
        faults += b.predict_faults(page)
    assert not faults, "\n".join(faults)


HALF = {"text": "36 %", "value": 0.359736, "unit": "", "label": "share"}
THREE = {"text": "3", "value": 3, "unit": "", "label": "buffers"}
TREES = {
    "a.half": HALF,
    "a.again": HALF | {"text": "36.0 %", "label": "the same of another"},
    "a.less": HALF | {"text": "35 %", "value": 0.35},
    "a.three": THREE,
    "a.same": THREE,
    "a.named": THREE | {"label": "slots"},
    "a.chips": THREE | {"label": "chips"},
    "a.sum": THREE | {"text": "6", "value": 6, "inputs": ["a.three", "a.chips"]},
}
BOX = """<div class="st-prediction" data-predict="{0}" data-unit="" data-value="1"
data-also="{1}"><form><input></form><p class="st-predict-note"></p><details
class="st-answer"><summary></summary><b class="st-q" data-q="{0}"></b></details>
</div>"""
INKED = """<table><thead><tr><th>chip<th>drawn (%)<th>late (ms)</thead>
<tr><th>A<td>36<td>36<tr><th>B<td>35.99<td>35.99<tr><th>C<td>35<td>4</table>
<div class="st-table" id="tab-x"><table><tr><td>3<td>33</table></div>
<pre>a.half = 36 %, a.three = 3; 0.36, 36 of them, 3 banks, 3 slots</pre>
<figure class="st-figure" id="fig-x">.</figure><figure class="st-figure">.</figure>"""
SEEN = """again: # less: 35 % same: # named: # chips: 3 sum: 6
chip drawn (%) late (ms) A # 36 B # 35.99 C 35 4 # 33
a.half = #, a.three = #; #, 36 of them, 3 banks, #
Answer hidden. Show itAnswer hidden. Show it.."""


def test_ink_lies_on_all_that_says_the_answer_and_on_nothing_else(tmp_path, fresh):
    """By unit, head, other digits, name, thing counted, and what its box names."""
    boxes = BOX.format("a.half", "fig-x") + BOX.format(
        "a.three", "a.named; ~ slots; fig-x; tab-x"
    )
    rest = [name for name in TREES if name not in ("a.half", "a.three")]
    says = " ".join(
        f'{n[2:]}: <b class="st-q" data-q="{n}">{TREES[n]["text"]}</b>' for n in rest
    )
    scripts = ("quantities", "ink", "predict", "print")
    held = f'<script type="application/json" id="st-quantities">{json.dumps(TREES)}'
    loads = "</script>".join(f'<script src="{name}.js">' for name in scripts)
    text = f'<!doctype html>{boxes}<article class="bd-article">{says} {INKED}</article>'
    (tmp_path / "page.html").write_text(f"{text}{held}</script>{loads}</script>")
    for name in scripts:
        copy(tree.ROOT / "book" / "_static" / f"{name}.js", tmp_path)
    with b.serve(tmp_path) as base:
        page, _ = fresh(base, asked=True)
        page.goto(base + "page.html")
        article = page.locator("article")
        cells = (
            "e => [...e.querySelectorAll('td, th')].forEach(cell => cell.append(' '))"
        )
        article.evaluate(cells)
        shown = re.sub("\u2007+", "#", article.text_content())
        assert " ".join(shown.split()) == " ".join(SEEN.split())
        laid = page.locator(".st-inked").count()
        for when in ("before", "after"):
            page.evaluate(f"dispatchEvent(new Event('{when}print'))")
        assert page.locator(".st-inked").count() == laid
        page.locator('[data-q="a.sum"]').click()
        told = page.locator(".st-input-value").all_text_contents()
        assert [value.strip("\u2007") for value in told] == ["", "3"]
        page.locator('[data-q="a.named"]').click()  # the other box waits on
        assert page.locator(".st-inked").count() and page.locator(".st-blurred").count()
        page.locator('[data-q="a.again"]').press("Enter")
        assert not page.locator("article :is(.st-inked, .st-blurred)").count()


AMOUNTS = ("20", "20 ms", "20ms", "0.02 s", "20,000 µs", "2e4 us")


def test_a_prediction_is_taken_in_any_unit_of_its_kind(visit):
    page, faults = visit("chapters/01-roofline/decode.html", asked=True)
    box = page.locator('.st-prediction[data-unit="ms"]').first
    field, note = box.locator("input"), box.locator(".st-predict-note")
    told = []
    for amount in AMOUNTS:
        field.fill(amount)
        field.press("Enter")
        told.append(note.text_content().split(". ", 1)[1])
        note.get_by_text("Predict again").click()
    assert len({*told}) == 1, told
    for amount in ("20 GB", "ms", "-20 ms"):
        field.fill(amount)
        field.press("Enter")
        assert not note.is_visible(), amount
    assert not faults


@sparse(8)
def test_without_javascript_the_book_is_plain_text(served, fresh, few):
    page, faults = fresh(served, java_script_enabled=False)
    for path in b.some(b.texts(BUILT), few, "plain"):
        page.goto(served + path)
        faults += b.without_script_faults(page)
    assert not faults, "\n".join(faults)


def test_in_print_folds_are_open_and_paper_is_white(visit):
    page, _ = visit(having("st-prediction")[0], "dark-desktop")
    was_open = page.locator("article details[open]").count()
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".st-answer .st-q").first.is_visible()
    assert not page.locator(".st-predict-form").first.is_visible()
    assert not b.contrast_faults(page)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.locator("article details[open]").count() == was_open


def test_a_page_opened_from_a_file_says_how_to_serve_it(built, fresh):
    page, _ = fresh("file:")
    page.goto((built / having(LIVE, "st-quantities")[0]).as_uri())
    page.locator(".st-live [data-control]").first.focus()
    page.keyboard.press("ArrowRight")
    status = page.locator(".st-live-status").first
    status.filter(has_text="python3 -m http.server").wait_for()
    b.open_by_key(page, page.locator(".st-q[role]:visible").first)
    assert page.locator("#st-popover").is_visible()


# ---- each checker, shown its fault ----

# The first, the middle one and the last are tried by real keys, the others in the page.
FIVE = "".join(
    f'<p style="position: relative"><span class="st-q" tabindex="0" data-q="a.{name}">'
    f"1</span>{over}</p>"
    for name, over in zip("abcde", ["", "", "", "{}", ""], strict=True)
)


def answer(size: int) -> dict:
    """What a planted live figure should say."""
    readout = {"name": "t", "label": "Time", "text": "2 ms"}
    return {"title": f"A time, {size}", "readouts": [readout]}


PLANTED_LIVE = f"""<script>st = {{{{chart: () => null}}}}</script>
<div class="st-live" id="live-x" data-call="{__name__}:answer" aria-busy="false">
<script type="application/json" class="st-live-controls">[{{{{"name": "size", "type":
"range", "values": [1], "value": 1}}}}]</script><input type="range" data-control="size"
max="0"><div class="st-live-moving"><p class="st-live-title">A time, 1</p>
<div class="st-live-plot"></div><div class="st-readout"><dt>{{}}</dt>
<dd><b class="st-q">{{}}</b></dd></div></div></div>"""
PLANTED = {
    "request": '<img src="http://example.invalid/x.png">',
    "worker": "<script>new Worker(URL.createObjectURL(new Blob(["
    "\"fetch('http://example.invalid/y')\"])))</script>",
    "script": "<script>undefinedFunction()</script>",
    "console": "<script>console.error('broken')</script>",
    "missing": '<img src="missing.png">',
    "contrast": '<p style="color: #999">Grey on white</p>',
    "faded": '<p style="opacity: 0.4">Faded</p>',
    "svg": '<svg width="99" height="30"><text y="20" fill="#ccc">Label</text></svg>',
    "cell": '<svg width="99" height="30"><rect width="99" height="30" fill="#333"/>'
    '<text y="20" fill="#000">Dark</text></svg>',
    "wide": '<div style="width: 2000px">Wide</div>',
    "overprinted": '<table style="table-layout: fixed; width: 99px"><tr>'
    '<td><p style="white-space: nowrap">208 billion transistors</p><td>agrees</table>',
    "clipped": '<div class="st-table" style="width: 50px; overflow: auto">'
    '<table style="width: 99px"><tr><td>far</table></div>',
    "parted": '<figure class="st-drawing" style="width: 20px"><input type="radio">'
    "<label>both are back</label></figure>",
    "stale": '<span class="st-q" data-q="a.b">21.5 ms</span>'
    '<script type="application/json" id="st-quantities">'
    '{"a.b": {"text": "21.1 ms"}}</script>',
    "dead": '<span class="st-q" tabindex="0" data-q="a.b">21.1 ms</span>',
    "dead among many": FIVE.format(""),
    "covered": FIVE.format('<i style="position: absolute; inset: 0"></i>'),
    "live": PLANTED_LIVE.format("Time", "3 ms"),
    "live label": PLANTED_LIVE.format("Size", "2 ms"),
    "pyrun": '<div class="st-pyrun"><button class="st-run"></button>'
    '<pre class="st-pyrun-output st-pyrun-error">NameError</pre></div>',
    "predict": '<div class="st-prediction" data-predict="p"><input>'
    '<p class="st-answer"><b class="st-q" data-q="a.b">1</b></p></div>',
    "written": '<article><div class="st-prediction" data-predict="p"><input>'
    '<p class="st-answer" hidden><b class="st-q" data-q="a.b">1 ms</b></p></div>'
    "<p>It takes 1 ms.</p></article>",
    "cell told": '<article><div class="st-prediction" data-predict="p"><input>'
    '<p class="st-answer" hidden><b class="st-q" data-q="a.b">1 ms</b></p></div>'
    "<table><thead><tr><th>time (ms)</thead><tr><td>1</table></article>",
    "hidden below": '<article><div class="st-prediction" data-predict="p"><input>'
    '<p class="st-answer" hidden><b class="st-q" data-q="a.b">1</b></p></div>'
    '<p style="display: none">It is one.</p></article>',
    "left": '<article><div class="st-prediction" data-predict="p"><input>'
    '<p class="st-answer"><b class="st-q" data-q="a.b">1</b></p></div>'
    '<p class="st-inked">?</p></article>',
    "folded": '<details class="st-answer" hidden><summary>Answer</summary></details>',
}
EXPECTED = {
    "request": "request off the host: http://example.invalid/x.png",
    "worker": "request off the host: http://example.invalid/y",
    "script": "script error: undefinedFunction is not defined",
    "console": "console error: broken",
    "missing": "404 for",
    "contrast": 'contrast 2.85: p in body: "Grey on white"',
    "faded": 'contrast 2.85: p in body: "Faded"',
    "svg": 'contrast 1.61: text in svg: "Label"',
    "cell": 'contrast 1.66: text in svg: "Dark"',
    "wide": "wider than the window: <div",
    "overprinted": "lies on the next cell: 208 billion transistors",
    "clipped": "is cut by its page: far",
    "parted": "stands below its button: both are back",
    "stale": "a.b reads '21.5 ms', its derivation '21.1 ms'",
    "dead": "number a.b does not open",
    "dead among many": "number a.d does not open",
    "covered": "number a.d lies under something",
    "live": 'readouts shows [["Time","3 ms"]], not [["Time","2 ms"]]',
    "live label": 'readouts shows [["Size","2 ms"]], not [["Time","2 ms"]]',
    "pyrun": "a runnable block gives 'NameError'",
    "predict": "p shows its answer before a prediction, a.b",
    "written": 'p is told in "It takes 1 ms."',
    "cell told": 'p is told in "1 ms"',
    "hidden below": 'p hides "It is one."',
    "left": "1 bars are left after committing",
    "folded": ".st-answer summary cannot be seen",
}
USES = {
    "dead": lambda page: b.number_faults(page, b.open_by_key),
    "dead among many": lambda page: b.number_faults(page, b.open_by_key),
    "covered": lambda page: b.number_faults(page, b.open_by_tap),
    "live": b.live_faults,
    "live label": b.live_faults,
    "pyrun": b.pyrun_faults,
    "predict": b.predict_faults,
    "written": b.predict_faults,
    "cell told": b.predict_faults,
    "hidden below": b.predict_faults,
    "left": b.predict_faults,
    "folded": b.without_script_faults,
}


def at_rest(page) -> list[str]:
    return b.overflow_faults(page) + b.contrast_faults(page) + b.stale_faults(page)


def test_each_planted_fault_is_caught(tmp_path, fresh):
    head = '<!doctype html><link rel="icon" href="data:,"><body style="margin:0">'
    missed = {}
    with b.serve(tmp_path) as base:
        page, faults = fresh(base, "dark-phone")
        for number, (fault, body) in enumerate(PLANTED.items()):
            faults.clear()
            (tmp_path / f"{number}.html").write_text(head + body)
            page.goto(f"{base}{number}.html")
            page.wait_for_timeout(100)
            faults += USES.get(fault, at_rest)(page)
            if not any(EXPECTED[fault] in found for found in faults):
                missed[fault] = list(faults)
    assert missed == {}


def test_a_sound_page_has_no_fault(tmp_path, fresh):
    text = '<!doctype html><link rel="icon" href="data:,"><body><p>Black on white</p>'
    text += '<svg width="99" height="30"><rect width="99" height="30" fill="#222"/>'
    text += '<text y="20" fill="#fff">White on a cell</text></svg>'
    (tmp_path / "page.html").write_text(text)
    with b.serve(tmp_path) as base:
        page, faults = fresh(base)
        page.goto(base + "page.html")
        assert not faults + at_rest(page)
