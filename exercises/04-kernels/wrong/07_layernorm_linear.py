# ---- lanes: You divide by the lanes of the tile
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
    at, of = tl.arange(0, BLOCK), tl.arange(0, OUT)
    inside, there = at < columns, of < outputs
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    apart = values - tl.sum(values, axis=0) / BLOCK
    apart = tl.where(inside, apart, 0.0)
    variance = tl.sum(apart * apart, axis=0) / BLOCK
    normed = apart / tl.sqrt(variance + 1e-5)
    normed = normed * tl.load(gain + at, mask=inside, other=0.0)
    normed = normed + tl.load(shift + at, mask=inside, other=0.0)
    both = there[:, None] & inside[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum(tile * normed[None, :], axis=1)
    tl.store(out + row * outputs + of, products, mask=there)


# ---- no_shift: `shift` is missing
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
    at, of = tl.arange(0, BLOCK), tl.arange(0, OUT)
    inside, there = at < columns, of < outputs
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    apart = values - tl.sum(values, axis=0) / columns
    apart = tl.where(inside, apart, 0.0)
    variance = tl.sum(apart * apart, axis=0) / columns
    normed = apart / tl.sqrt(variance + 1e-5)
    normed = normed * tl.load(gain + at, mask=inside, other=0.0)
    both = there[:, None] & inside[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum(tile * normed[None, :], axis=1)
    tl.store(out + row * outputs + of, products, mask=there)


# ---- read_again: it stays in registers
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
    at, of = tl.arange(0, BLOCK), tl.arange(0, OUT)
    inside, there = at < columns, of < outputs
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    apart = tl.load(x + row * columns + at, mask=inside, other=0.0) - mean
    apart = tl.where(inside, apart, 0.0)
    variance = tl.sum(apart * apart, axis=0) / columns
    normed = apart / tl.sqrt(variance + 1e-5)
    normed = normed * tl.load(gain + at, mask=inside, other=0.0)
    normed = normed + tl.load(shift + at, mask=inside, other=0.0)
    both = there[:, None] & inside[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum(tile * normed[None, :], axis=1)
    tl.store(out + row * outputs + of, products, mask=there)


# ---- unmasked: Mask them once more.
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
    at, of = tl.arange(0, BLOCK), tl.arange(0, OUT)
    inside, there = at < columns, of < outputs
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    apart = values - tl.sum(values, axis=0) / columns
    variance = tl.sum(apart * apart, axis=0) / columns
    normed = apart / tl.sqrt(variance + 1e-5)
    normed = normed * tl.load(gain + at, mask=inside, other=0.0)
    normed = normed + tl.load(shift + at, mask=inside, other=0.0)
    both = there[:, None] & inside[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum(tile * normed[None, :], axis=1)
    tl.store(out + row * outputs + of, products, mask=there)


# ---- variance: not by its root
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
    at, of = tl.arange(0, BLOCK), tl.arange(0, OUT)
    inside, there = at < columns, of < outputs
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    apart = values - tl.sum(values, axis=0) / columns
    apart = tl.where(inside, apart, 0.0)
    variance = tl.sum(apart * apart, axis=0) / columns
    normed = apart / (variance + 1e-5)
    normed = normed * tl.load(gain + at, mask=inside, other=0.0)
    normed = normed + tl.load(shift + at, mask=inside, other=0.0)
    both = there[:, None] & inside[None, :]
    tile = tl.load(matrix + of[:, None] * columns + at[None, :], mask=both, other=0.0)
    products = tl.sum(tile * normed[None, :], axis=1)
    tl.store(out + row * outputs + of, products, mask=there)
