# ---- no_maximum: Take the row's maximum off first.
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    powers = tl.exp(tl.load(x + row + at, mask=inside, other=-float("inf")))
    tl.store(out + row + at, powers / tl.sum(powers, axis=0), mask=inside)


# ---- twice: Load the row once and keep it
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    top = tl.max(tl.load(x + row + at, mask=inside, other=-float("inf")), axis=0)
    values = tl.load(x + row + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - top)
    tl.store(out + row + at, powers / tl.sum(powers, axis=0), mask=inside)


# ---- unmasked: it needs a mask
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row + at)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + at, powers / tl.sum(powers, axis=0), mask=at < columns)


# ---- zeros: Let them hold minus infinity.
def softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=0.0)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row + at, powers / tl.sum(powers, axis=0), mask=inside)
