"""Claims on what fewer bits cost on a benchmark."""

from stacklib.evidence import Finding, claim, measurements
from stacklib.quantity import Quantity, Source, quoted

SCORES = ("G-0118", "G-0119")  # AWQ in INT4: accuracy, with that of FP16 beside it
PERPLEXITIES = ("G-0001", "G-0003")  # one model in BF16, and in INT4 weight-only


def _row(id: str) -> measurements.Measurement:
    return next(row for row in measurements.public() if row.id == id)


def _read(row: measurements.Measurement, value: float, label: str) -> Quantity:
    source = Source(row.source, row.id, "2026-11-21", "secondary")
    return Quantity(value, label=label, source=source, kind="measured", key=row.id)


def loss(id: str) -> Quantity:
    """Share of its FP16 score that a quantized model loses."""
    row = _row(id)
    before = _read(row, row.number("fp16"), f"{row.subject}, FP16")
    after = _read(row, row.value, f"{row.subject}, {row.software}")
    return (1 - after / before).named(f"loss of {row.subject}")


def perplexity_rise() -> Quantity:
    """Rise of a published perplexity from BF16 to INT4 with groups of 64."""
    before, after = map(_row, PERPLEXITIES)
    ends = (_read(row, row.value, row.text("quant")) for row in (before, after))
    wide, narrow = ends
    return (narrow / wide - 1).named("rise of perplexity")


@claim("int4-loses-1-2")
def benchmark_loss() -> Finding:
    """One model's card: the benchmark on which it loses least, and the most."""
    low, high = sorted(map(loss, SCORES), key=lambda found: found.si)
    least, most = (1 - quoted(f"w4a16.{name}") for name in ("humaneval", "arena"))
    return Finding(
        least.named("loss on HumanEval"),
        to=most.named("loss on Arena-Hard"),
        why="Llama 3.1 8B, by the card of Red Hat's INT4 model. It depends on model "
        "and task: that of 70B loses nothing there (its own card), AWQ's own table "
        f"has {low:.2 %} and {high:.2 %} on VQA-v2, and torchao's plain INT4 raises "
        f"the perplexity of {_row(PERPLEXITIES[0]).subject} by "
        f"{perplexity_rise():.2 %}.",
    )
