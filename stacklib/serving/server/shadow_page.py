"""The page of the shadow: what the simulator says beside what was measured, drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

NAMES = {
    "ttft": "to the first token",
    "itl": "from token to token",
    "e2e": "to the last token",
}
LEFT, WIDE, LINE = 150, 460, 26  # of the drawing, in pixels
STYLE = """
:root { color-scheme: light dark; --told: #2f6fb0; --seen: #d9570f; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto;
  padding: 0 1rem; }
svg { width: 100%; height: auto; } text { font-size: 12px; fill: currentColor; }
.interval { fill: var(--told); opacity: .35; } .told { stroke: var(--told);
  stroke-width: 2; } .seen { fill: var(--seen); } .grid { stroke: currentColor;
  opacity: .2; }
"""
# The page looks again by itself; without a script it is read anew by hand.
SCRIPT = """
setInterval(async () => {
  const text = await (await fetch("/shadow")).text();
  const page = new DOMParser().parseFromString(text, "text/html");
  document.querySelector("main").replaceWith(page.querySelector("main"));
}, 3000);
"""


def page(told: dict[str, Any]) -> str:
    """The whole page."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Shadow of {escape(told['model'])}</title><style>{STYLE}</style>"
        f"<main><h1>What they wait, predicted and measured</h1>{_words(told)}"
        f"{_drawn(told['times'])}</main><script>{SCRIPT}</script></html>\n"
    )


def _words(told: dict[str, Any]) -> str:
    """What the drawing rests on, and where it misses."""
    if not told["requests"]:
        return "<p>No request has ended yet.</p>"
    low, high = told["band"]
    used = told["utilisation"]
    said = [
        f"{told['requests']:,} requests, up to the first that still runs"
        + ("; all came at once." if used is None else f"; utilisation {used:.2f}."),
        f"The simulator was given when they came, how much they read and wrote, and "
        f"{told['steps_timed']:,} steps timed before the first: steps take "
        f"{low:.2f} to {high:.2f} times what it says.",
    ]
    if told["why"]:
        said.append(f"No percentile is predicted: {told['why']}.")
    rows = [row for row in told["times"] if row["inside"] is not None]
    if rows:
        inside = sum(row["inside"] for row in rows)
        said.append(f"{inside} of {len(rows)} percentiles lie in their interval.")
    said.append(
        f"The engine's steps took {told['steps_s']:.2f} s, "
        f"{told['steps_over_law']:.2f} times the law of steps; in "
        f"{told['between_share']:.1%} of the requests' time nobody stepped it, which "
        "is not predicted."
    )
    return "".join(f"<p>{escape(each)}</p>" for each in said)


def _drawn(rows: Sequence[dict[str, Any]]) -> str:
    """Intervals as bars, what was predicted as lines, what was measured as dots."""
    values = [
        value
        for row in rows
        for name in ("measured_s", "predicted_s", "low_s", "high_s")
        if (value := row[name])
    ]
    if not values:
        return ""
    ends = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = ends[0], max(ends[1], ends[0] + 1)

    def x(seconds: float) -> float:
        return LEFT + WIDE * (math.log10(max(seconds, 10.0**first)) - first) / (
            last - first
        )

    parts, y = [], 0
    for at, row in enumerate(rows):
        y = LINE * (at + 1 + at // 4)
        if at % 4 == 0:
            parts.append(f'<text x="0" y="{y - LINE + 9}">{NAMES[row["of"]]}</text>')
        parts += [f'<text x="20" y="{y + 4}">{row["percent"]} in 100</text>']
        if row["low_s"] is not None:
            end = LEFT + WIDE if row["high_s"] is None else x(row["high_s"])
            begin = x(row["low_s"])
            parts.append(
                f'<rect class="interval" x="{begin:.1f}" y="{y - 7}" height="14" '
                f'width="{max(1.0, end - begin):.1f}"/>'
            )
        if row["predicted_s"] is not None:
            at_ = x(row["predicted_s"])
            parts.append(
                f'<path class="told" d="M{at_:.1f} {y - 9}V{y + 9}">'
                f"<title>{row['predicted_s']:.4g} s predicted</title></path>"
            )
        if row["measured_s"] is not None:
            parts.append(
                f'<circle class="seen" cx="{x(row["measured_s"]):.1f}" cy="{y}" r="4">'
                f"<title>{row['measured_s']:.4g} s measured</title></circle>"
            )
    bottom = y + LINE
    for power in range(first, last + 1):
        at_ = x(10.0**power)
        parts.append(
            f'<path class="grid" d="M{at_:.1f} 8V{bottom - 10}"/>'
            f'<text x="{at_:.1f}" y="{bottom + 4}" text-anchor="middle">'
            f"{_unit(power)}</text>"
        )
    return (
        f'<svg viewBox="0 0 {LEFT + WIDE + 40} {bottom + 12}" role="img" '
        'aria-label="Percentiles predicted with their intervals, and measured">'
        f"{''.join(parts)}</svg><p>Bar: interval, open to the right where the line "
        "grows without end. Line: predicted. Dot: measured. Seconds, by powers of "
        "ten.</p>"
    )


def _unit(power: int) -> str:
    """A power of ten of seconds."""
    for least, name in ((0, "s"), (-3, "ms"), (-6, "µs")):
        if power >= least:
            return f"{10 ** (power - least):,} {name}"
    return f"1e{power} s"
