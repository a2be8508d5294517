"""A headless Chromium on a loopback server, and what can be wrong with a page.

Each ``*_faults`` function returns sentences, empty where all is well; the tests
feed each a page with that fault to see it caught.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import random
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stacklib.plots.live.controls import resolve

from ..rows import sources

if TYPE_CHECKING:  # slow to import, and half of a run's processes open no page
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
LOOKS = {
    "light-desktop": ("light", DESKTOP),
    "dark-phone": ("dark", PHONE),
    "dark-desktop": ("dark", DESKTOP),
    "light-phone": ("light", PHONE),
}
# Only what never comes is waited for so long: a core may be shared with other jobs.
PATIENCE_MS = 240_000


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: hundreds of requests would hide what failed."""


@contextlib.contextmanager
def serve(folder: Path, handler=Quiet) -> Iterator[str]:
    """Address of `folder`, served on loopback for the length of the block."""
    handler = functools.partial(handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def launch(playwright: Playwright, path: str) -> Browser:
    """Chromium that resolves no name: what is not on loopback cannot answer.

    Python in a page is compiled once: to compile it better takes longer than it runs.
    """
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    options = ["--no-sandbox", rules, "--js-flags=--liftoff-only"]
    return playwright.chromium.launch(executable_path=path, args=options)


def context(
    browser: Browser, look: str = "light-desktop", asked: bool = False, **options
) -> BrowserContext:
    """A fresh profile in the book's light or dark theme, without motion.

    Unless it is to be ``asked`` for predictions, its pages stand whole.
    """
    theme, device = LOOKS[look]
    made = browser.new_context(reduced_motion="reduce", **device, **options)
    made.set_default_timeout(PATIENCE_MS)
    choose = "localStorage.setItem('mode', '{0}'); localStorage.setItem('theme', '{0}')"
    # A page without an origin of its own (about:blank) has no storage.
    whole = "" if asked else "; localStorage.setItem('st-predict-never-ask', '1')"
    made.add_init_script(f"try {{ {choose.format(theme)}{whole} }} catch {{ }}")
    return made


def watched(inside: BrowserContext, base: str) -> tuple[Page, list[str]]:
    """A page, and the list that fills with what goes wrong while it is used."""
    page, faults = inside.new_page(), []

    def asked(request) -> None:
        if not request.url.startswith((base, "data:", "blob:", "about:")):
            faults.append(f"{page.url}: request off the host: {request.url}")

    def answered(response) -> None:
        if response.status >= 400:
            faults.append(f"{page.url}: {response.status} for {response.url}")

    def said(message) -> None:
        # A missing file is reported by `answered`, with its address.
        if message.type == "error" and "Failed to load resource" not in message.text:
            faults.append(f"{page.url}: console error: {message.text}")

    inside.on("request", asked)
    inside.on("response", answered)
    page.on("console", said)
    page.on("pageerror", lambda e: faults.append(f"{page.url}: script error: {e}"))
    return page, faults


@functools.cache
def pages(folder: Path) -> tuple[str, ...]:
    """The built book's pages, by their path below `folder`; no redirects."""
    found = []
    for path in folder.rglob("*.html"):
        inside = path.relative_to(folder)
        moved = 'http-equiv="refresh"' in path.read_text(encoding="utf-8").lower()
        if not moved and inside.parts[0] != "_static":
            found.append(inside.as_posix())
    return tuple(sorted(found))


@functools.cache
def texts(folder: Path) -> tuple[str, ...]:
    """Pages without the listings of the package's source, which are many and alike.

    Of those written from the database, one in fifteen.
    """
    paths = [path for path in pages(folder) if not path.startswith("_modules")]
    made = [p for p in paths if FACT_PAGE in (folder / p).read_text(encoding="utf-8")]
    dropped = {*made} - {*made[::15]}
    return tuple(path for path in paths if path not in dropped)


def some(paths: Sequence[str], count: int | None, what: str) -> list[str]:
    """So many of the pages, all for None, drawn by the package's code.

    The same for the same tree, others after any change, so that all come in time.
    """
    draw = random.Random(f"{sources()} {what}")
    return draw.sample(paths, len(paths) if count is None else min(count, len(paths)))


FACT_PAGE = 'class="st-crumbs"'

# ---- what can be seen at rest ----

PROBES = (Path(__file__).parent / "probes.js").read_text(encoding="utf-8")


def ask(page: Page, probe: str, argument: object = None):
    """The answer of one of ``probes.js``, evaluated in the page."""
    return page.evaluate(f"(x) => {PROBES.strip()}.{probe}(x)", argument)


def overflow_faults(page: Page) -> list[str]:
    """What a window or a page cuts, cells that print over the next, buttons alone."""
    faults = {
        "overflow": "wider than the window",
        "overprinted": "lies on the next cell",
        "clipped": "is cut by its page",
        "parted": "stands below its button",
    }
    return [
        f"{page.url}: {fault}: {what}"
        for probe, fault in faults.items()
        for what in ask(page, probe)
    ]


def contrast_faults(page: Page, least: float = 4.5) -> list[str]:
    """Visible text, SVG text too, below WCAG AA (3:1 where it is large)."""
    found = ask(page, "contrast", least)
    return [f"{page.url}: contrast {ratio:.2f}: {what}" for what, ratio in found]


def palette(page: Page) -> dict[str, list[float]]:
    """Contrast of each ``--st-`` colour against paper and raised paper."""
    return ask(page, "palette")


def stale_faults(page: Page) -> list[str]:
    """Numbers whose text is not that of the derivation the page holds."""
    return [
        f"{page.url}: {name} reads {here!r}, its derivation {there!r}"
        for name, here, there in ask(page, "stale")
    ]


# ---- what can be used ----


def open_by_key(page: Page, number) -> None:
    """Focus a computed number and press Enter."""
    number.focus()
    page.keyboard.press("Enter")


def open_by_tap(page: Page, number) -> None:
    """Touch a computed number."""
    number.scroll_into_view_if_needed()
    number.tap()


# Tables of facts hold hundreds of numbers, all made alike: of more than MANY on a
# page a FEW are tried.
MANY, FEW = 60, 12
KNOWN = "Source:|[Aa]ssumed|we take|[Cc]ounted|constant"  # what a number may stand on


def number_faults(page: Page, opened) -> list[str]:
    """Each distinct computed number opens, shows a source, closes by Escape.

    Of more than ``MANY`` on a page, ``FEW`` are tried, evenly spaced. The first, the
    middle one and the last of a page are opened as a reader would, the others by the
    same events made in the page, where nothing may lie over them.
    """
    names = ask(page, "numbers")
    if not names:
        return []
    real = list(dict.fromkeys([names[0], names[len(names) // 2], names[-1]]))
    tried = names[:: len(names) // FEW if len(names) > MANY else 1]
    made = [name for name in tried if name not in real]
    faults = [fault for name in real for fault in really(page, name, opened)]
    faults += ask(page, "opens", [made, opened is open_by_key, KNOWN])
    return [f"{page.url}: {fault}" for fault in faults]


def really(page: Page, name: str, opened) -> Iterator[str]:
    """What is wrong with one number, opened by a key or a tap."""
    opened(page, page.locator(f'.st-q[data-q="{name}"]:visible').first)
    if not (panel := ask(page, "panel")):
        yield f"number {name} does not open"
        return
    if not re.search(KNOWN, panel["text"]):
        yield f"number {name} shows no source"
    if panel["left"] < 0 or panel["right"] > page.viewport_size["width"] + 1:
        yield f"number {name} opens beyond the window"
    page.keyboard.press("Escape")
    if ask(page, "panel"):
        yield f"Escape does not close number {name}"
    elif opened is open_by_key and ask(page, "focused_number") != name:
        yield f"Escape loses the focus of number {name}"


IS_FOCUSED = "e => e === document.activeElement"


def live_faults(page: Page, rounds: int = 2) -> list[str]:
    """Each live figure, its controls moved at random, says what Python says.

    All of the answer is held: title, message, labels, texts, what their numbers open
    to, table and drawing. The first move is made by a key.
    """
    faults = []
    for figure in page.locator(".st-live").all():
        name = figure.get_attribute("id")
        controls = ask(page, "controls", name)
        rng = random.Random(name)
        for turn in range(rounds):
            if turn == 0:
                moved_by_key(page, figure, controls[0])
            else:
                ask(page, "move", [name, [rng.randrange(c["count"]) for c in controls]])
            with contextlib.suppress(Exception):
                figure.and_(page.locator('[aria-busy="false"]')).wait_for()
            values = ask(page, "values", name)
            spec = resolve(figure.get_attribute("data-call"))(**values)
            found = ask(page, "figure", [name, spec])
            faults += [f"{page.url}: {name} at {values}: {fault}" for fault in found]
    return faults


def moved_by_key(page: Page, figure: Locator, control: dict) -> None:
    """One step of a control that changes what it stands at."""
    figure.locator(f'[data-control="{control["name"]}"]').focus()
    more = control["at"] + 1 < control["count"]
    page.keyboard.press(
        "ArrowDown"
        if more and control["menu"]
        else "ArrowRight"
        if more
        else "ArrowUp"
        if control["menu"]
        else "ArrowLeft"
    )


def pyrun_faults(page: Page) -> list[str]:
    """Each runnable block prints something and raises nothing."""
    faults = []
    for block in page.locator(".st-pyrun").all():
        block.locator(".st-run").click()
        output = block.locator(".st-pyrun-output")
        output.wait_for()
        shown = output.text_content()
        failed = "st-pyrun-error" in output.get_attribute("class")
        if failed or not shown.strip() or shown == "(no output)":
            faults.append(f"{page.url}: a runnable block gives {shown!r}")
    return faults


def predict_faults(page: Page) -> list[str]:
    """What a page tells before its predictions are committed, and after.

    While a box waits all of the page can be seen but its answer, by name or as a
    text; committed, each shows its answer, also after a reload, and no bar is left.
    """
    faults = []
    boxes = page.locator(".st-prediction").all()
    names = [box.get_attribute("data-predict") for box in boxes]
    answers = [ask(page, "answer", name) for name in names]
    for i, (name, box) in enumerate(zip(names, boxes, strict=True)):
        for told in ask(page, "tells_answers", [name, answers[i:]]):
            faults.append(f"{page.url}: {name} {told}")
        box.locator("input").fill("2.5")
        box.locator("input").press("Enter")
    for moment in ("committing", "reloading"):
        if moment == "reloading":
            page.reload()
        for name, box in zip(names, boxes, strict=True):
            answer = box.locator(".st-answer .st-q")
            if not answer.is_visible() or "2.5" not in box.inner_text():
                faults.append(f"{page.url}: {name} shows no answer after {moment}")
        if left := page.locator(".st-inked, .st-blurred").count():
            faults.append(f"{page.url}: {left} bars are left after {moment}")
    return faults


def without_script_faults(page: Page) -> list[str]:
    """Without JavaScript: numbers are text, answers and static figures reachable."""
    faults = []
    if page.locator(".st-q[role]").count():
        faults.append(f"{page.url}: a number claims to be a button")
    for what in (".st-answer summary", ".st-live-static", ".st-pyrun pre"):
        if not all(part.is_visible() for part in page.locator(what).all()):
            faults.append(f"{page.url}: {what} cannot be seen")
    return faults
