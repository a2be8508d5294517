"""Two levels of scales.

level: build

Suppose NVFP4: elements of E2M1, which ends at 6; a scale of E4M3, which ends at 448,
for each 16 of them; and one scale of FP32 for the whole tensor. The tensor's scale
makes the largest block's scale the largest number of E4M3.

- `tensor_scale(x)`: the largest magnitude of all, over `448 * 6`.
- `block_scales(x)`: for each block its largest magnitude over 6, over the tensor's
  scale, rounded to E4M3: as many numbers as there are blocks.
- `restored(x)`: the elements as they come back: code, times block scale, times tensor
  scale. A block whose scale rounds to zero comes back as zeros.

`x` is a flat array of float32, and all arithmetic is in float32. The order of the
kernels is this: the reciprocal of the tensor's scale is divided by the block's scale;
each element is multiplied by that and then rounded to E2M1.

`Format("e4m3fn")` and `Format("e2m1")` encode and decode arrays, and you may use them.

hint: `x.reshape(-1, 16)` has a block in each row. `form.decode(form.encode(a))` rounds
an array `a`. Multiplying by a reciprocal is not dividing: the reciprocal is rounded.
"""

import statistics

import numpy as np

from stacklib.grading import expect
from stacklib.quantizers import Format

# ---- your answer ----


def tensor_scale(x):
    """The FP32 scale of the tensor."""
    return np.abs(x).max() / np.float32(448 * 6)


def block_scales(x):
    """The E4M3 scale of each block, as numbers."""
    form = Format("e4m3fn")
    largest = np.abs(x.reshape(-1, 16)).max(axis=1)
    return form.decode(form.encode(largest / np.float32(6) / tensor_scale(x)))


def restored(x):
    """What the elements are after both levels."""
    form = Format("e2m1")
    whole, each = tensor_scale(x), block_scales(x)[:, None]
    used = np.where(each > 0, each, np.float32(1))
    factors = np.where(each > 0, np.float32(1) / whole / used, np.float32(0))
    elements = form.decode(form.encode(x.reshape(-1, 16) * factors))
    return (elements * each * whole).ravel()


# ---- tests ----

E4M3, E2M1 = Format("e4m3fn"), Format("e2m1")
ONE = np.float32(1)
RNG = np.random.default_rng(16)


def drawn(blocks, spread, size=1.0):
    """Blocks of normal numbers, of sizes that differ."""
    sizes = size * np.exp(spread * RNG.standard_normal((blocks, 1)))
    return (sizes * RNG.standard_normal((blocks, 16))).astype(np.float32).ravel()


ZEROS = drawn(8, 0.5)
ZEROS[16:32] = 0
CASES = {
    "normal": drawn(64, 0.0),
    "blocks of many sizes": drawn(64, 1.5),
    "small": drawn(64, 0.5, 1e-4),
    "large": drawn(64, 0.5, 1e5),
    "a block of zeros": ZEROS,
}


def given(value, count, what):
    """The reader's numbers, so many."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise expect.Mistake(f"{expect.clip(value)}: {what} are asked for") from None
    if found.size != count:
        raise expect.Mistake(f"{found.size} numbers: {what} are asked for, {count}")
    if not np.isfinite(found).all():
        raise expect.Mistake("a block of zeros has scale zero: do not divide by it")
    return found.ravel()


def of_tensor(x, ends=448 * 6):
    return np.abs(x).max() / np.float32(ends)


def to_e4m3(a):
    return E4M3.decode(E4M3.encode(a.astype(np.float32), saturate=True))


def of_blocks(x, whole=None, rounding=to_e4m3):
    whole = of_tensor(x) if whole is None else whole
    return rounding(np.abs(x.reshape(-1, 16)).max(axis=1) / np.float32(6) / whole)


def back(x, divided=False, kind=np.float32):
    """Both levels, with the element's scaling in one of two ways."""
    rows, whole = x.reshape(-1, 16).astype(kind), kind(of_tensor(x))
    each = of_blocks(x)[:, None].astype(kind)
    there = each > 0
    used = np.where(there, each, 1).astype(kind)
    scaled = rows / (used * whole) if divided else rows * (kind(1) / whole / used)
    elements = E2M1.decode(E2M1.encode(np.where(there, scaled, 0)))
    return (elements * each * whole).ravel()


def test_tensor_scale():
    for name, x in CASES.items():
        try:
            expect.number(
                tensor_scale(x.copy()),
                float(of_tensor(x)),
                rel=1e-5,
                mistakes={
                    "The elements end at 6: the block's scale takes that much off.": (
                        float(of_tensor(x, 448))
                    ),
                    "The block's scales end at 448.": float(of_tensor(x, 6)),
                    "E4M3 ends at 448: 480 is NaN.": float(of_tensor(x, 480 * 6)),
                },
            )
        except expect.Mistake as mistake:
            raise expect.Mistake(f"{name}: {mistake}") from None


SCALES = {
    "Those are not rounded to E4M3.": {"rounding": lambda a: a},
    "The tensor's scale is left out: E4M3 alone has to reach every block.": {
        "whole": ONE
    },
}


def test_block_scales():
    for name, x in CASES.items():
        mine = given(block_scales(x.copy()), x.size // 16, "block scales")
        if np.allclose(mine, of_blocks(x), rtol=1e-6):
            continue
        for text, slip in SCALES.items():
            if np.allclose(mine, of_blocks(x, **slip), rtol=1e-5, equal_nan=True):
                raise expect.Mistake(f"{name}: {text}")
        at = int(np.argmax(mine != of_blocks(x)))
        raise expect.Mistake(
            f"{name}: block {at} has {mine[at]:g} instead of {of_blocks(x)[at]:g}"
        )


def normal_floats():
    """NF4's numbers: quantiles of a normal distribution, as its paper makes them."""
    end, quantile = 0.9677083, statistics.NormalDist().inv_cdf
    above = [quantile(p) for p in np.linspace(end, 0.5, 9)[:-1]]
    below = [-quantile(p) for p in np.linspace(end, 0.5, 8)[:-1]]
    return np.array([*below, 0.0, *above[::-1]]) / max(above)


def is_normal_float(mine):
    """Whether elements are parts of their block's largest as NF4 has them."""
    rows = mine.reshape(-1, 16)
    most = np.abs(rows).max(axis=1, keepdims=True)
    parts = rows / np.where(most > 0, most, 1)
    far = np.abs(parts[..., None] - normal_floats()).min(axis=-1)
    return bool((far < 1e-3).all())


def test_restored():
    for name, x in CASES.items():
        mine = given(restored(x.copy()), x.size, "elements")
        right = back(x)
        if np.allclose(mine, right, rtol=1e-5, atol=0):
            lost = np.linalg.norm(mine - x) / np.linalg.norm(x)
            expect.reading(f"relative error, {name}", f"{100 * lost:.1f} %")
            continue
        if is_normal_float(mine):
            raise expect.Mistake(
                f"{name}: those are parts of NF4, NormalFloat. NVFP4 has elements of "
                "E2M1"
            )
        at = int(np.argmax(~np.isclose(mine, right, rtol=1e-5, atol=0)))
        raise expect.Mistake(
            f"{name}: element {at}, {x[at]:g}, is {mine[at]:g} instead of "
            f"{right[at]:g}; its block has scale {of_blocks(x)[at // 16]:g}"
        )


def half_way(blocks=256):
    """Elements half way between two numbers of E2M1, as near as float32 has them."""
    x = drawn(blocks, 0.5)
    for _ in range(2):  # the largest of each block stays, and so do the scales
        rows = x.reshape(-1, 16)
        total = of_blocks(x)[:, None] * of_tensor(x)
        ties = RNG.choice([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], rows.shape)
        first = np.abs(rows) == np.abs(rows).max(axis=1, keepdims=True)
        x = np.where(first, rows, (ties * total).astype(np.float32)).ravel()
    return x


def test_half_way():
    x = half_way()
    mine, right = given(restored(x.copy()), x.size, "elements"), back(x)
    wrong = int(np.count_nonzero(~np.isclose(mine, right, rtol=1e-5, atol=0)))
    if not wrong:
        return
    for text, other in {
        "You divide. The kernels multiply by a reciprocal, which is rounded": back(
            x, divided=True
        ),
        "You compute in float64; the kernels in float32": back(x, kind=np.float64),
    }.items():
        if np.allclose(mine, other, rtol=1e-5, atol=0):
            raise expect.Mistake(f"{text}: {wrong} of {x.size} elements differ")
    raise expect.Mistake(
        f"half way between two numbers of E2M1, {wrong} of {x.size} elements differ: "
        "keep to the order and to float32"
    )
