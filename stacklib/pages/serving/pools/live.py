"""One pool or two, live: requests a second by the limit, in closed form."""

from __future__ import annotations

from typing import Any

from stacklib.pages.serving import pools as page
from stacklib.pages.serving.queue import per_second
from stacklib.plots.live import choices
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity, counted

LIMITS = (14, 16, 18, 20, 25, 30, 40, 50, 70, 100)
PROMPTS = (512, 1024, 2048, 4096, 8192, 16384)
NEW = (64, 128, 256, 512, 1024)


def controls() -> list[dict[str, Any]]:
    """The traffic, the limit and the split."""
    return [
        choices.slider("prompt", "Tokens of a prompt", PROMPTS, page.CONTEXT),
        choices.slider("new", "Tokens of an answer", NEW, page.NEW),
        choices.slider("limit", "Limit of a token (ms)", LIMITS, 20),
        choices.slider("readers", "Machines that read, of four", (1, 2, 3), 3),
    ]


def alone(prompt: int, new: int, limit: int) -> float:
    """Requests a second of one pool: what time for prompts the answers leave.

    The answers on their way are as many as fit the limit; the rate is the best of all
    numbers of them.
    """
    read, most = page.reading(prompt).si, 0.0
    for count in range(1, page.seats(limit / 1000, prompt) + 1):
        step = page.writing(count, prompt, new).si
        free = (1 - step * 1000 / limit) / read
        most = max(most, min(free, count * 1000 / (limit * new)))
    return page.MACHINES * most


def apart(prompt: int, new: int, limit: int, readers: int) -> float:
    """Requests a second of two pools: of the one that is full first."""
    count = page.seats(limit / 1000, prompt)
    read = readers / page.reading(prompt).si
    if not count:
        return 0.0
    step = page.writing(count, prompt, new).si
    return min(read, (page.MACHINES - readers) * count / (new * step))


def explore(*, prompt: int, new: int, limit: int, readers: int) -> Spec:
    """Both by the limit, with the limit that is asked for."""
    one = _rate(alone, prompt, new, limit)
    two = _rate(apart, prompt, new, limit, readers)
    both = {
        "one pool": [alone(prompt, new, each) for each in LIMITS],
        f"{readers} read, {page.MACHINES - readers} write": [
            apart(prompt, new, each, readers) for each in LIMITS
        ],
    }
    top = max(map(max, both.values()))
    return chart(
        f"At {limit} ms per token "
        f"{'two pools serve' if two > one else 'one pool serves'} more.",
        x=axis("Limit of a token (ms)", log=True, limits=[13, 110]),
        y=axis("Requests per second", limits=[0, 1.1 * top]),
        marks=[
            *(
                line(LIMITS, y, words, "predicted", at="key", series=series)
                for series, (words, y) in enumerate(both.items())
            ),
            rule("limit", "predicted", x=limit),
        ],
        readouts=[
            readout("one", "One pool, a second", per_second(one), digits=3),
            readout("two", "Two pools, a second", per_second(two), digits=3),
        ],
        about={"device": page.DEVICE},
    )


def _rate(way: Any, *asked: int) -> Quantity:
    return counted(way, *asked, unit="1/s", label="requests per second")
