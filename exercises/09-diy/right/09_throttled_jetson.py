# ---- by_share: what of its watts a board may keep
def warm(tokens, joules, watts, resistance, limit, air):
    if air >= limit:
        raise ValueError(f"air of {air} at a limit of {limit} degrees")
    allowed = (limit - air) / resistance
    wanted = tokens * joules
    return tokens * min(1, allowed / wanted, watts / wanted)


# ---- by_search: watts by halving, the zero by trying codes, zeros taken off at the end
def warm(tokens, joules, watts, resistance, limit, air):
    if air >= limit:
        raise ValueError(f"air of {air} at a limit of {limit} degrees")
    low, high = 0.0, float(watts)
    if air + resistance * high > limit:
        for _ in range(60):
            middle = (low + high) / 2
            fine = air + resistance * middle <= limit
            low, high = (middle, high) if fine else (low, middle)
        high = low
    return min(tokens, high / joules)


def zero(low, high):
    step = scale(low, high)
    return min(range(256), key=lambda code: abs(-min(low, 0) - code * step))


def dot(x, weights, low, high, weight_scale):
    step, none = scale(low, high), zero(low, high)
    total = 0
    for one, w in zip(x, weights, strict=True):
        code = none + round(one / step)
        code = 0 if code < 0 else 255 if code > 255 else code
        total += code * w
    return step * weight_scale * (total - none * sum(weights))
