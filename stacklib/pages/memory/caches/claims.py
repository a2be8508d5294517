"""The claim on what moving the working set nearer is worth."""

from stacklib.evidence import Finding, claim
from stacklib.pages.roofline.roofline import five_operations
from stacklib.quantity import Quantity, counted
from stacklib.roofline.count import passes

SIDE = 4096  # of the array; the ratio does not depend on it
OPERATIONS = ("softmax", "layernorm", "gelu")


def _saved(operation: str) -> Quantity:
    """Bytes of an operation pass by pass, over those of its input and output."""
    counts = {"pass by pass": passes.moved, "once in and once out": passes.least}
    by_pass, fused = (
        counted(count, operation, SIDE, SIDE, unit="B", label=f"{operation}, {how}")
        for how, count in counts.items()
    )
    return (by_pass / fused).named(f"bytes saved, {operation}")


@claim("locality-5-10x")
def locality() -> Finding:
    """Row operations: every pass through memory, against all passes near the core."""
    listed = ", ".join(f"{name} {_saved(name):.2}" for name in OPERATIONS)
    gains = []
    for name in ("softmax", "gelu"):
        whole = five_operations.outcome(name).run.measured
        gain = whole / five_operations.outcome(name, "blocked").run.measured
        gains.append(f"{name} {gain:.2}")
    return Finding.open(
        "Counted in bytes, for operations written as library calls: times as many "
        f"are moved pass by pass as in and out once, {listed}. In time, kept in cache "
        f"on our own machine, it is {' and '.join(gains)}, because then arithmetic is "
        "what takes long. To settle it: the operation and the two levels that the "
        "document has in mind."
    )
