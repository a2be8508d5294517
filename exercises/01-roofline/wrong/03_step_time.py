# ---- gib_capacity: a GB of capacity is 1e9 bytes
def step_time(model, device, dtype, chips, batch, context):
    kept = model.weight_bytes(dtype).si
    kept += batch * context * model.kv_bytes_per_token(dtype).si
    have = chips * device.memory_capacity.si * 1.024**3
    if kept > have:
        raise ValueError(f"{kept / 1e9:.1f} GB > {have / 1e9:.1f} GB")
    return max(times(model, device, dtype, chips, batch, context))


# ---- one_sequence: You counted the arithmetic of one sequence
def times(model, device, dtype, chips, batch, context):
    weight = bytes_per_element(dtype).si
    tokens = batch * context
    moved = model.streamed_parameters.si * weight
    moved += tokens * model.kv_bytes_per_token(dtype).si
    flop = 2 * model.streamed_parameters.si
    flop += tokens * model.attention_flops_per_token_pair.si
    return (
        flop / (chips * device.peak(dtype).si),
        moved / (chips * device.memory_bandwidth.si),
    )


# ---- sparse_peak: You divided by the sparse peak
def times(model, device, dtype, chips, batch, context):
    weight = bytes_per_element(dtype).si
    tokens = batch * context
    moved = model.streamed_parameters.si * weight
    moved += tokens * model.kv_bytes_per_token(dtype).si
    flop = 2 * batch * model.streamed_parameters.si
    flop += tokens * model.attention_flops_per_token_pair.si
    factor = device.peaks[dtype].sparse_factor
    return (
        flop / (chips * device.peak(dtype).si * factor),
        moved / (chips * device.memory_bandwidth.si),
    )


# ---- sum_not_max: You added the two times
def step_time(model, device, dtype, chips, batch, context):
    kept = model.weight_bytes(dtype).si
    kept += batch * context * model.kv_bytes_per_token(dtype).si
    have = chips * device.memory_capacity.si
    if kept > have:
        raise ValueError(f"{kept / 1e9:.1f} GB > {have / 1e9:.1f} GB")
    return sum(times(model, device, dtype, chips, batch, context))
