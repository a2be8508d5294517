"""The batch at which waiting ends.

level: derive

One word reads every weight once, and so does one word for each of a hundred
users: the weights are there already, only the arithmetic grows. At some batch the
arithmetic takes as long as the reading. Derive it.

Count two FLOP for each weight and each sequence, and let the bytes be those of
the weights alone. Write first the arithmetic intensity of such a step, then the
batch at which its two times are equal. The number of weights must drop out.

`device.peak(dtype)`, `device.memory_bandwidth` and `bytes_per_element(dtype)` give
what you need; `.si` makes plain numbers of them, in FLOP/s, B/s and B. Return plain
numbers or quantities.

hint: Write N for the weights, B for the batch, w for the bytes of one weight. The
step computes for 2·N·B / peak seconds and reads for N·w / bandwidth seconds. Set
them equal. Then compare fp8 with bf16: the peak doubles, and w does something too.
"""

from stacklib import hardware, models, roofline
from stacklib.grading import expect
from stacklib.quantity import bytes_per_element

# ---- your answer ----


def intensity(batch, dtype):
    """FLOP for every byte read, at this batch and weight format."""
    return 2 * batch / bytes_per_element(dtype).si


def break_even_batch(device, dtype):
    """The batch, not rounded, at which computing takes as long as reading."""
    ridge = device.peak(dtype).si / device.memory_bandwidth.si
    return ridge / intensity(1, dtype)


# ---- tests ----

MODEL = models.get("llama-3-70b")
DEVICES = ("h100-sxm", "h200-sxm", "b200-sxm", "rtx-4090", "tpu-v5p", "mi300x")
FORMATS = ("fp32", "bf16", "fp8", "fp4")
KEPT = {name: name for name in FORMATS} | {"fp8": "e4m3fn"}  # without scales


def step_intensity(batch, dtype):
    work = roofline.decode_work(MODEL, dtype=KEPT[dtype], batch=batch, context=0)
    return work.intensity.si


def words_that_fill(device, dtype):
    """A word that keeps the units busy for 1/300 leaves room for 300 of them."""
    step = roofline.decode_step(MODEL, on=device, dtype=KEPT[dtype], tp=8, context=0)
    return step.limits.t_memory.si / step.limits.t_compute.si


def test_intensity():
    expect.function_matches(
        intensity,
        step_intensity,
        [{"batch": b, "dtype": d} for d in FORMATS for b in (1, 16, 97)],
        unit="FLOP/B",
        rel=0.02,
        mistakes={
            "Each sequence of the batch computes with each weight.": (
                lambda batch, dtype: step_intensity(1, dtype)
            ),
        },
    )


def test_break_even_batch():
    devices = [hardware.get(name) for name in DEVICES]
    expect.function_matches(
        break_even_batch,
        words_that_fill,
        [
            {"device": device, "dtype": dtype}
            for device in devices
            for dtype in FORMATS
            if dtype in device.formats
        ],
        rel=0.02,
        mistakes={
            "That is the ridge, in FLOP a byte. A batch counts sequences: how "
            "many FLOP does one sequence bring to a byte?": (
                lambda device, dtype: roofline.ridge(device, dtype).si
            ),
            "A byte is eight bits: do both of your times count bytes?": (
                lambda device, dtype: 8 * words_that_fill(device, dtype)
            ),
        },
    )
