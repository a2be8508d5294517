"""Two programs for a scratchpad: a product with one operand kept, and a small MLP."""

from __future__ import annotations

from collections.abc import Iterable

from stacklib.quantity.bounds import whole

from .operations import Op, Program


def _cut(name: str, size: int, part: int) -> int:
    """How many parts; they must divide."""
    for value in (size, part):
        whole(**{name: value})
    if size % part:
        raise ValueError(f"{name}: parts of {part} do not divide {size}")
    return size // part


def matmul_program(
    m: int,
    n: int,
    k: int,
    *,
    block_k: int,  # columns of a block of X, and of a panel of W; they divide k and n
    panel_n: int,
    width: int = 2,  # bytes of a number
    snake: bool = False,  # whether every second panel goes through the blocks backwards
) -> Program:
    """Y = X W with X kept in the scratchpad and W streamed past it.

    X (m, k) is cut into blocks of ``block_k`` columns, W into panels of ``panel_n``
    columns. Every panel needs every block of X, so X is read in a cycle, once a panel.
    Sums stay in a memory of their own (PSUM, on a Trainium) until the panel is done.
    """
    blocks, panels = _cut("block_k", k, block_k), _cut("panel_n", n, panel_n)
    _cut("m", m, 1), _cut("width", width, 1)
    sizes = {f"x{i}": m * block_k * width for i in range(blocks)}
    ops, streamed, outputs = [], [], []
    for j in range(panels):
        around: Iterable[int] = range(blocks)
        if snake and j % 2:
            around = reversed(range(blocks))
        order = list(around)
        y = f"y{j}"
        sizes[y] = m * panel_n * width
        outputs.append(y)
        for i in order:
            w = f"w{i}.{j}"
            sizes[w] = block_k * panel_n * width
            streamed.append(w)
            done = (y,) if i == order[-1] else ()
            ops.append(Op(f"{i}.{j}", (f"x{i}", w), done))
    return Program(sizes, ops, frozenset(outputs), frozenset((*streamed, *outputs)))


def mlp_program(
    rows: int, d: int, hidden: int, *, block: int, width: int = 4, snake: bool = False
) -> Program:
    """Y = relu(X W1) W2: first the whole hidden layer, block by block, then its use.

    The blocks of the hidden layer are made here, so one that leaves early must be
    written back. X is dead once the last is made; Y gathers in place.

    ``width``: bytes of a number.
    """
    blocks = _cut("block", hidden, block)
    _cut("rows", rows, 1), _cut("d", d, 1), _cut("width", width, 1)
    sizes = {"x": rows * d * width, "y": rows * d * width}
    ups: list[Op] = []
    downs: list[Op] = []
    for i in range(blocks):
        sizes[f"h{i}"] = rows * block * width
        sizes[f"u{i}"] = sizes[f"d{i}"] = d * block * width
        ups.append(Op(f"up{i}", ("x", f"u{i}"), (f"h{i}",)))
    order = list(range(blocks))
    for i in reversed(order) if snake else order:
        gathered = ("y",) if downs else ()
        downs.append(Op(f"down{i}", (f"h{i}", f"d{i}", *gathered), ("y",)))
    streamed = frozenset(f"{kind}{i}" for i in range(blocks) for kind in "ud")
    return Program(sizes, ups + downs, frozenset({"y"}), streamed)
