"""What the server counts, as Prometheus reads it; names are vLLM's, the prefix ours."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from stacklib.serving.engine.metrics import Metrics
from stacklib.serving.engine.request import Request

PREFIX = "stacklib:"
# Upper ends of the buckets, in seconds.
BETWEEN = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5)
FIRST_TOKEN = (0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.1, 0.25, 0.5, 1.0, 2.5, 5, 10)
WHOLE = (0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0)


@dataclass
class Histogram:
    """How many values lie up to each end, and their sum."""

    ends: tuple[float, ...]
    total: float = 0.0
    counts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.ends) + 1)

    def add(self, value: float) -> None:
        """One value more."""
        self.counts[bisect_left(self.ends, value)] += 1
        self.total += value

    def lines(self, name: str, label: str) -> Iterator[str]:
        """Prometheus' lines: each bucket holds all below it."""
        names = [*map(str, self.ends), "+Inf"]
        for end, count in zip(names, accumulate(self.counts), strict=True):
            yield f'{name}_bucket{{{label},le="{end}"}} {count}'
        yield f"{name}_sum{{{label}}} {self.total:.6f}"
        yield f"{name}_count{{{label}}} {sum(self.counts)}"


class Latencies:
    """When tokens came, as the engine's thread saw it."""

    def __init__(self) -> None:
        self.first = Histogram(FIRST_TOKEN)
        self.between = Histogram(BETWEEN)
        self.whole = Histogram(WHOLE)
        self.ended: Counter[str] = Counter()
        self._last: dict[int, float] = {}

    def add(self, request: Request, seen: int) -> None:
        """A request that a step moved, of whose pieces ``seen`` were known before."""
        for piece in request.pieces[seen:]:
            if piece.token is None:
                continue
            if request.id in self._last:
                self.between.add(piece.time - self._last[request.id])
            else:
                self.first.add(piece.time - request.submitted)
            self._last[request.id] = piece.time
        if request.finished is not None:
            self.whole.add(request.finished - request.submitted)
            self.ended[request.reason or ""] += 1
            self.forget(request.id)

    def forget(self, request: int) -> None:
        """It gets no tokens any more."""
        self._last.pop(request, None)


def page(
    model: str, found: Metrics, latencies: Latencies, slow: int, refused: int
) -> str:
    """The text of ``/metrics``."""
    counts, label = found.counts, f'model_name="{model}"'
    used = found.blocks_used / found.blocks
    rows = [
        ("gauge", "num_requests_running", "requests in the batch", found.running),
        ("gauge", "num_requests_waiting", "requests in line", found.waiting),
        ("gauge", "kv_cache_usage_perc", "share of the blocks held, 0 to 1", used),
        ("gauge", "num_blocks", "blocks of the pool", found.blocks),
        ("gauge", "num_blocks_used", "blocks held by requests", found.blocks_used),
        ("gauge", "num_blocks_cached", "found again, unheld", found.blocks_cached),
        ("counter", "num_preemptions", "requests put back in line", counts.preemptions),
        ("counter", "prefix_cache_queries", "prompt tokens", counts.prompt_tokens),
        ("counter", "prefix_cache_hits", "of them found", counts.cached_tokens),
        ("counter", "recomputed_tokens", "after preemption", counts.recomputed_tokens),
        ("counter", "prompt_tokens", "tokens of prompts", counts.prompt_tokens),
        ("counter", "generation_tokens", "tokens made", counts.generated_tokens),
        ("counter", "steps", "passes of the model", counts.steps),
        ("counter", "request_cancelled", "clients that went", counts.cancelled),
        ("counter", "request_refused", "answered with 429", refused),
        ("counter", "slow_readers", "cut off", slow),
    ]
    lines = []
    for kind, name, said, value in rows:
        whole = f"{PREFIX}{name}" + ("_total" if kind == "counter" else "")
        lines += [*head(whole, kind, said), f"{whole}{{{label}}} {value}"]
    name = f"{PREFIX}request_success_total"
    lines += head(name, "counter", "requests that ended, by reason")
    for reason in ("stop", "length"):
        ended = latencies.ended[reason]
        lines.append(f'{name}{{{label},finished_reason="{reason}"}} {ended}')
    for name, said, histogram in (
        ("time_to_first_token", "from submission", latencies.first),
        ("inter_token_latency", "from token to token", latencies.between),
        ("e2e_request_latency", "to the end", latencies.whole),
    ):
        whole = f"{PREFIX}{name}_seconds"
        lines += [*head(whole, "histogram", said), *histogram.lines(whole, label)]
    return "\n".join(lines) + "\n"


def head(name: str, kind: str, said: str) -> list[str]:
    """What Prometheus reads before the values of a name."""
    return [f"# HELP {name} {said}", f"# TYPE {name} {kind}"]
