# ---- shifted: log of the sum taken off
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    keep = at < columns
    place = tl.program_id(0) * columns + at
    values = tl.load(x + place, mask=keep, other=float("-inf"))
    values = values - tl.max(values, axis=0)
    total = tl.log(tl.sum(tl.exp(values), axis=0))
    tl.store(out + place, tl.exp(values - total), mask=keep)


# ---- where: the lanes beyond are put to zero afterwards
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    keep = at < columns
    start = tl.program_id(0) * columns
    values = tl.load(x + start + at, mask=keep, other=0.0)
    top = tl.max(tl.where(keep, values, -3.0e38), axis=0)
    powers = tl.where(keep, tl.exp(values - top), 0.0)
    tl.store(out + start + at, powers / tl.sum(powers, axis=0), mask=keep)
