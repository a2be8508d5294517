"""What a page weighs on a slow line, and how it lies on a phone.

A page is loaded cold, through the server of ``make open``; nothing on it is touched.
When its first text would stand on a slow line is computed from the bytes that the
browser waits for, so that no machine's speed and no other job decides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from _tools.serve import Handler

from .browser import ask

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

# 1.6 Mbit/s, with the round trip that phones have on such a line: one to connect, one
# for the page, one for the styles and scripts that it names.
BYTES_PER_SECOND, ROUND_TRIP, TRIPS = 1.6e6 / 8, 0.15, 3
MOST_BYTES, MOST_SECONDS, MOST_SCROLLERS = 600_000, 3.0, 4
AWAITED = """() => [...performance.getEntriesByType("navigation"),
  ...performance.getEntriesByType("resource")
    .filter((r) => r.renderBlockingStatus === "blocking")]
  .reduce((sum, r) => sum + r.transferSize, 0)"""


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
            yield f"{self.page}: no text for {self.painted:.1f} s"


class Quiet(Handler):
    """The server of ``make open``, which logs nothing here."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def weigh(inside: BrowserContext, base: str, path: str) -> Weight:
    """Load a page, the cache empty, until nothing more comes."""
    page = inside.new_page()
    line = inside.new_cdp_session(page)
    sent: list[int] = []
    line.on("Network.loadingFinished", lambda e: sent.append(e["encodedDataLength"]))
    line.send("Network.enable")
    line.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(base + path, wait_until="networkidle")
    painted = TRIPS * ROUND_TRIP + page.evaluate(AWAITED) / BYTES_PER_SECOND
    page.close()
    return Weight(path, round(sum(sent)), painted)


def phone_faults(page: Page) -> list[str]:
    """Too much that is pushed sideways; a caption, a row or a column out of sight."""
    boxes = ask(page, "scrollers")
    faults = [f"{page.url}: {line}" for line in ask(page, "tables")]
    if len(boxes) > MOST_SCROLLERS:
        faults += [f"{page.url}: {len(boxes)} boxes scroll sideways", *boxes]
    return faults
