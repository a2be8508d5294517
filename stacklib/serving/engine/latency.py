"""What a client waits for, from the times at which its tokens came.

Each number has its definition beside it: engines and benchmarks use one name for
several of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

DEFINITIONS = {
    "ttft": "from the request to its first token",
    "tpot": "from the first token to the last, over the tokens after the first",
    "tpot_all": "from the request to its last token, over all its tokens",
    "itl": "from a token to the next, a number a pair; in one step they are 0 apart",
    "e2e": "from the request to its end",
}


@dataclass(frozen=True, slots=True)
class Latency:
    """One request as its client saw it, in the engine's time; see ``DEFINITIONS``.

    None where there were too few tokens; ``itl`` is the gaps between them.
    """

    ttft: float | None
    tpot: float | None
    tpot_all: float | None
    itl: tuple[float, ...]
    e2e: float
    tokens: int


def latency(submitted: float, times: Sequence[float], finished: float) -> Latency:
    """The five numbers of one request.

    - ``submitted``, ``finished``: when it came and when it ended.
    - ``times``: when each of its tokens came.
    - raises ``ValueError``: when these do not follow one another.
    """
    order = (submitted, *times, finished)
    if not all(before <= after for before, after in pairwise(order)):
        raise ValueError(
            f"submitted {submitted}, tokens {list(times)}, finished {finished}: "
            "times must not go back"
        )
    count = len(times)
    return Latency(
        ttft=times[0] - submitted if times else None,
        tpot=(times[-1] - times[0]) / (count - 1) if count > 1 else None,
        tpot_all=(times[-1] - submitted) / count if times else None,
        itl=tuple(after - before for before, after in pairwise(times)),
        e2e=finished - submitted,
        tokens=count,
    )
