"""Claims on coalescing: what a warp's request moves."""

from stacklib.evidence import Finding, claim
from stacklib.hardware.warp_rules import rule
from stacklib.quantity import bytes_per_element, chosen

from . import moved

FP32 = bytes_per_element("fp32")


@claim("strided-32-transactions")
def strided() -> Finding:
    """Lanes 32 numbers of fp32 apart."""
    return Finding(
        moved(chosen(128, "B", "bytes from lane to lane: 32 numbers")),
        why="Every lane has a sector of its own, as at any stride from "
        f"{(rule('sector') / FP32).si:.0f} on.",
    )


@claim("strided-slowdown-10-30")
def slowdown() -> Finding:
    """Bytes moved over bytes asked for, by sectors."""
    step = FP32 * chosen(32, label="stride in elements")
    asked = rule("lanes") * FP32
    by = {
        name: moved(step, name) * rule(name) / asked
        for name in ("sector", "fetch", "line")
    }
    return Finding(
        by["sector"],
        to=by["fetch"],
        why=f"Sectors explain {by['sector']} times the traffic. Where the L2 "
        f"fetches 64 bytes it is {by['fetch']}; only with whole lines, which nothing "
        f"here fetches, it would be {by['line']}.",
    )


@claim("coalesced-one-transaction")
def coalesced() -> Finding:
    """Sectors, which the document counts for strided access, of neighbours."""
    asked = rule("lanes") * FP32
    off = moved(FP32, "line", first=chosen(64, "B", "address of lane 0"))
    return Finding.depends(
        "a transaction is a line of 128 bytes, and the warp starts at one",
        computed=(asked / rule("sector")).named("sectors moved"),
        why="Counted as the same document counts strided access, in sectors. As lines "
        f"it is {(asked / rule('line')).text()}, or {off} where the warp starts in the "
        "middle of one.",
    )
