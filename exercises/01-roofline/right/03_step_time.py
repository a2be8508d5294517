# ---- quantities: with units, and the larger of two quantities
from stacklib.quantity import maximum


def times(model, device, dtype, chips, batch, context):
    tokens = batch * context
    moved = model.streamed_parameters.si * bytes_per_element(dtype)
    moved += tokens * model.kv_bytes_per_token(dtype).si * bytes_per_element("int8")
    flop = 2 * batch * model.streamed_parameters.si
    flop += tokens * model.attention_flops_per_token_pair.si
    return (
        flop / (chips * device.peak(dtype).si),
        (moved / device.memory_bandwidth / chips).si,
    )


def step_time(model, device, dtype, chips, batch, context):
    cache = model.kv_bytes_per_token(dtype).si * batch * context
    if (model.weight_bytes(dtype).si + cache) / chips > device.memory_capacity.si:
        raise ValueError("too large for so many chips")
    compute, memory = times(model, device, dtype, chips, batch, context)
    return maximum(Quantity(compute, "s"), Quantity(1e3 * memory, "ms"))


from stacklib.quantity import Quantity


# ---- arrays: rows of work over rates, in NumPy
import numpy as np


def times(model, device, dtype, chips, batch, context):
    weights, cached = model.streamed_parameters.si, batch * context
    work = np.array([batch, 1.0]) * weights * [2.0, bytes_per_element(dtype).si]
    work += cached * np.array(
        [
            model.attention_flops_per_token_pair.si,
            model.kv_bytes_per_token(dtype).si,
        ]
    )
    rates = np.array([device.peak(dtype).si, device.memory_bandwidth.si])
    return work / rates / chips


def step_time(model, device, dtype, chips, batch, context):
    kept = np.dot(
        [1, batch * context],
        [model.weight_bytes(dtype).si, model.kv_bytes_per_token(dtype).si],
    )
    if kept > chips * device.memory_capacity.si:
        raise ValueError(kept)
    return np.max(times(model, device, dtype, chips, batch, context))


def bound_by(model, device, dtype, chips, batch, context):
    both = times(model, device, dtype, chips, batch, context)
    return np.array(["compute", "memory"])[np.argmax(both)]
