# ---- folded: the gain goes into the matrix, the mean comes off at the end
def norm_linear(
    x,
    gain,
    shift,
    matrix,
    out,
    columns,
    outputs,
    BLOCK: tl.constexpr,
    OUT: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    of = tl.arange(0, OUT)
    inside = at < columns
    both = (of < outputs)[:, None] & inside[None, :]
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    off = tl.where(inside, values - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(off * off, axis=0) / columns + 1e-5)
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    scaled = tile * tl.load(gain + at, mask=inside, other=0.0)[None, :]
    constant = tl.sum(
        tile * tl.load(shift + at, mask=inside, other=0.0)[None, :], axis=1
    )
    products = tl.sum(scaled * off[None, :], axis=1) * rstd + constant
    tl.store(out + row * outputs + of, products, mask=of < outputs)


# ---- subtracted: the lanes beyond are counted and taken off again
def norm_linear(
    x,
    gain,
    shift,
    matrix,
    out,
    columns,
    outputs,
    BLOCK: tl.constexpr,
    OUT: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    of = tl.arange(0, OUT)
    keep = at < columns
    values = tl.load(x + row * columns + at, mask=keep, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    apart = values - mean
    squares = tl.sum(apart * apart, axis=0) - (BLOCK - columns) * mean * mean
    apart = apart / tl.sqrt(squares / columns + 1e-5)
    g = tl.load(gain + at, mask=keep, other=0.0)
    s = tl.load(shift + at, mask=keep, other=0.0)
    both = (of < outputs)[:, None] & keep[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum((apart * g + s)[None, :] * tile, axis=1)
    tl.store(out + row * outputs + of, products, mask=of < outputs)
