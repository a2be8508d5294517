"""One step on any device.

level: build

Write the function behind this chapter's first figure: the least time of one
decode step, for any model, device, number of chips, batch and context.

- Each of `model.streamed_parameters` is read once a step and costs two FLOP for
  each sequence.
- Each sequence reads the keys and values of its `context` cached tokens,
  `model.kv_bytes_per_token(dtype)` each, and spends
  `model.attention_flops_per_token_pair` on each of them.
- The chips share bytes and FLOP evenly, and each has its own
  `device.memory_bandwidth` and `device.peak(dtype)`. Reading and computing go on
  at the same time.
- All weights, `model.weight_bytes(dtype)`, and the cache must fit. A step that
  does not has no time: raise ValueError.

Return seconds, plain or as a quantity. Build it from the sizes above;
`stacklib.roofline` is what it is tested against.

hint: Let `times` count bytes and FLOP over all chips and divide once by the rates
of all chips. Each of the other two functions is then a line or two: which of two
numbers decides when both things happen at once? Compare the memory with
`device.memory_capacity`; its GB are 1e9 bytes.
"""

from functools import cache
from itertools import product

from stacklib import hardware, models, roofline
from stacklib.grading import expect
from stacklib.quantity import bytes_per_element

# ---- your answer ----


def times(model, device, dtype, chips, batch, context):
    """Seconds the step would compute and seconds it would read, as a pair."""
    weight = bytes_per_element(dtype).si
    tokens = batch * context
    moved = model.streamed_parameters.si * weight
    moved += tokens * model.kv_bytes_per_token(dtype).si
    flop = 2 * batch * model.streamed_parameters.si
    flop += tokens * model.attention_flops_per_token_pair.si
    return (
        flop / (chips * device.peak(dtype).si),
        moved / (chips * device.memory_bandwidth.si),
    )


def step_time(model, device, dtype, chips, batch, context):
    """Least seconds of one step; ValueError where model and cache do not fit."""
    kept = model.weight_bytes(dtype).si
    kept += batch * context * model.kv_bytes_per_token(dtype).si
    have = chips * device.memory_capacity.si
    if kept > have:
        raise ValueError(f"{kept / 1e9:.1f} GB > {have / 1e9:.1f} GB")
    return max(times(model, device, dtype, chips, batch, context))


def bound_by(model, device, dtype, chips, batch, context):
    """What the step waits for: "memory" or "compute"."""
    compute, memory = times(model, device, dtype, chips, batch, context)
    return "memory" if memory > compute else "compute"


# ---- tests ----

MODEL = models.get("llama-3-70b")
DEVICES = ("h100-sxm", "h200-sxm", "b200-sxm", "rtx-4090", "tpu-v5p", "mi300x")
FORMATS = ("fp32", "bf16", "int8")
SHAPES = [(1, 2, 4096), (16, 8, 1024), (1500, 8, 16)]  # batch, chips, context


def case_of(device, dtype, batch, chips, context):
    case = {"model": MODEL, "device": device, "dtype": dtype}
    return {**case, "chips": chips, "batch": batch, "context": context}


def cases(fitting):
    """Devices, formats and shapes; those that fit, or those that do not."""
    devices = [hardware.get(name) for name in DEVICES]
    for device, dtype, shape in product(devices, FORMATS, SHAPES):
        if dtype in device.formats:
            case = case_of(device, dtype, *shape)
            if step(**case).fit.fits == fitting:
                yield case


def one_too_many():
    """The smallest batch that two H100s cannot hold."""
    h100, batch = hardware.get("h100-sxm"), 1
    while step(**case_of(h100, "bf16", batch, 2, 4096)).fit.fits:
        batch += 1
    return case_of(h100, "bf16", batch, 2, 4096)


def step(model, device, dtype, chips, batch, context):
    return computed_once(device.key, dtype, chips, batch, context)


@cache
def computed_once(device, dtype, chips, batch, context):
    return roofline.decode_step(
        MODEL, on=device, dtype=dtype, tp=chips, batch=batch, context=context
    )


def test_step_time():
    expect.function_matches(
        step_time,
        lambda **case: step(**case).time,
        cases(fitting=True),
        unit="s",
        mistakes={
            "You added the two times; they pass at once, so the longer counts.": (
                lambda **c: step(**c).t_compute + step(**c).t_memory
            ),
            "You counted the arithmetic of one sequence, not of the batch.": (
                lambda **c: sped_up(c, c["batch"])
            ),
            "You divided by the sparse peak; these weights are dense.": (
                lambda **c: sped_up(c, sparse_gain(c["device"], c["dtype"]))
            ),
            "You gave each chip all of the work.": (
                lambda **c: step(**c).time * c["chips"]
            ),
        },
    )


def sparse_gain(device, dtype):
    return device.peaks[dtype].sparse_factor


def sped_up(case, factor):
    """The time if the arithmetic were this much faster."""
    limits = step(**case).limits
    return max(limits.t_memory, limits.t_compute / factor)


def test_bound_by():
    expect.function_matches(
        bound_by,
        lambda **case: step(**case).bound,
        cases(fitting=True),
        among=("memory", "compute"),
    )


def test_what_does_not_fit_has_no_time():
    for case in [*cases(fitting=False), one_too_many()]:
        fit = step(**case).fit
        why = fit.explanation
        if fit.need < fit.have * 1.024**3:
            why += "; a GB of capacity is 1e9 bytes"
        expect.refuses(step_time, case, because=why)
