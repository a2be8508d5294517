"""A graph to fuse, live: kernels, bytes and time as rules and sizes change."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.kernels.launch.fuse import Fusion, fuse
from stacklib.kernels.launch.launches import cost
from stacklib.pages.kernels.fusion import graphs
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

TOKENS = (1, 4, 16, 64, 256, 1024, 2048, 4096, 8192)
KEYS = 4096
NODE = cost("node").si  # s, from one kernel of a graph to the next
SWITCH = {"on": "on", "off": "off"}


def controls() -> list[dict[str, Any]]:
    """The part, how many tokens, and which rules hold."""
    return [
        choices.select("part", "Graph", [[p, p] for p in graphs.PARTS], "attention"),
        choices.slider("tokens", "Tokens at once", TOKENS, 4096),
        choices.select("elementwise", "Elementwise joins its maker", SWITCH, "on"),
        choices.select("rows", "Row sums join their maker", SWITCH, "on"),
        choices.select("siblings", "Products share rows", SWITCH, "on"),
        choices.select("online", "Online softmax", SWITCH, "off"),
    ]


def seconds(found: Fusion, device: str = "h100_sxm") -> float:
    """Time of a graph's kernels: bytes at full bandwidth, and a node for each."""
    return found.seconds(hardware.get(device).memory_bandwidth.si, NODE)


def explore(
    *, part: str, tokens: int, elementwise: str, rows: str, siblings: str, online: str
) -> Spec:
    """Time against tokens: one by one, and fused by the rules that are on."""
    switches = {"elementwise": elementwise, "rows": rows}
    switches |= {"siblings": siblings, "online": online}
    rules = [rule for rule, state in switches.items() if state == "on"]

    def fused(count: int, by: list[str]) -> Fusion:
        return fuse(graphs.graph(part, count, KEYS), by)

    apart = [seconds(fused(n, [])) * 1e6 for n in TOKENS]
    joined = [seconds(fused(n, rules)) * 1e6 for n in TOKENS]
    mine, plain = fused(tokens, rules), fused(tokens, [])
    told = [
        ("kernels", "Kernels", counted(mine.launches, "kernels"), ""),
        ("moved", "Bytes", counted(mine.fused_bytes, "bytes", "B"), "MB"),
        ("plain", "One by one", counted(plain.fused_bytes, "unfused", "B"), "MB"),
        ("time", "Time, H100", counted(seconds(mine) * 1e6, "time", "µs"), "µs"),
    ]
    many = f"{mine.launches} kernels" if mine.launches > 1 else "one kernel"
    groups = "; ".join(" ".join(kernel) for kernel in mine.kernels)
    return chart(
        f"{plain.launches} operations become {many}: {groups}.",
        x=axis("Tokens at once", log=True),
        y=axis("Time (µs)", log=True),
        marks=[
            line(TOKENS, apart, "one by one", "predicted", at="key"),
            line(TOKENS, joined, "fused", "predicted", at="key"),
            here(tokens, seconds(mine) * 1e6, "your graph"),
        ],
        readouts=[readout(key, words, q, unit=unit) for key, words, q, unit in told],
        about={"device": "h100_sxm"},
    )
