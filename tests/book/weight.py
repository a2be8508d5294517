"""What a page weighs on a slow line, and how it lies on a phone.

A page is loaded cold, through the server of ``make open``, over a line that the
devtools protocol throttles; nothing on it is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from _tools.serve import Handler
from playwright.sync_api import BrowserContext, Page

from .browser import ask

# 1.6 Mbit/s down, with the round trip that phones have on such a line.
LINE = {
    "offline": False,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 750e3 / 8,
    "latency": 150,
}
MOST_BYTES, MOST_SECONDS, MOST_SCROLLERS = 600_000, 3.0, 4
PAINT = """() => new Promise((told) => {
  const seen = () => performance.getEntriesByName("first-contentful-paint")[0];
  const ask = () => (seen() ? told(seen().startTime) : setTimeout(ask, 50));
  ask();
})"""


@dataclass(frozen=True)
class Weight:
    """Bytes on the line, headers included, and seconds to the first text."""

    page: str
    sent: int
    painted: float

    def faults(self) -> Iterator[str]:
        """What passes the bars of DESIGN section 5."""
        if self.sent > MOST_BYTES:
            yield f"{self.page}: {self.sent / 1e3:.0f} kB before it is touched"
        if self.painted > MOST_SECONDS:
            yield f"{self.page}: first paint after {self.painted:.1f} s"


class Quiet(Handler):
    """The server of ``make open``, which logs nothing here."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def weigh(inside: BrowserContext, base: str, path: str) -> Weight:
    """Load a page over the slow line, the cache empty, until nothing more comes."""
    page = inside.new_page()
    line = inside.new_cdp_session(page)
    sent: list[int] = []
    line.on("Network.loadingFinished", lambda e: sent.append(e["encodedDataLength"]))
    line.send("Network.enable")
    line.send("Network.setCacheDisabled", {"cacheDisabled": True})
    line.send("Network.emulateNetworkConditions", LINE)
    page.goto(base + path, wait_until="networkidle", timeout=60_000)
    painted = page.evaluate(PAINT) / 1e3
    page.close()
    return Weight(path, round(sum(sent)), painted)


def phone_faults(page: Page) -> list[str]:
    """Too much that is pushed sideways; a caption, a row or a column out of sight."""
    boxes = ask(page, "scrollers")
    faults = [f"{page.url}: {line}" for line in ask(page, "tables")]
    if len(boxes) > MOST_SCROLLERS:
        faults += [f"{page.url}: {len(boxes)} boxes scroll sideways", *boxes]
    return faults
