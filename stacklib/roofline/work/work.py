"""Work: operations and bytes of one piece of computation.

Bytes count each operand once, read or written: the least a machine with a
perfect cache has to move. What a real kernel moves beyond that is the business
of the rooms ``memory`` and ``kernels``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, bytes_per_element, chosen, one_of
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Work:
    """Operations and bytes of one computation, a quantity each.

    Parameters
    ----------
    operations : Quantity
        In FLOP, or OP for integer formats. One multiply-add is two.
    bytes : Quantity
        Moved between memory and chip.
    name : str
        What is computed.
    dtype : str
        Format of the operands.
    """

    operations: Quantity
    bytes: Quantity
    name: str
    dtype: str

    @property
    def intensity(self) -> Quantity:
        """Arithmetic intensity: operations for every byte moved."""
        return (self.operations / self.bytes).named("arithmetic intensity")


def sized(value: Any, name: str, least: int = 1) -> Quantity:
    """``value`` as a quantity under its name; ValueError unless whole."""
    whole(least, **{name: value})
    return chosen(value, label=name)


def _per_mac(operation: str) -> Quantity:
    return (2 * one_of(operation)).named(f"{operation} per multiply-add")


def matmul(*, m: int, n: int, k: int, dtype: str = "bf16") -> Work:
    """An (m, k) by (k, n) product: 2mnk operations, three matrices moved once.

    Parameters
    ----------
    dtype : str
        Format of both operands and the result.

    Raises
    ------
    ValueError
        For a size that is not a whole number above zero.
    UnknownName
        For an unknown format.

    Examples
    --------
    >>> matmul(m=4096, n=4096, k=4096).intensity.text()
    '1,370 FLOP/B'
    """
    fmt = find_dtype(dtype)
    rows, cols, depth = sized(m, "m"), sized(n, "n"), sized(k, "k")
    operations = _per_mac(fmt.operation) * rows * cols * depth
    moved = (rows * depth + depth * cols + rows * cols) * bytes_per_element(dtype)
    return Work(
        operations.named("operations"),
        moved.named("bytes moved"),
        f"matmul {m} x {n} x {k}",
        fmt.name,
    )


def gemv(*, n: int, k: int, dtype: str = "bf16") -> Work:
    """A vector of k by a (k, n) matrix: the matmul of one row.

    Parameters
    ----------
    n, k : int
        Columns and rows of the matrix.
    dtype : str
        Format of matrix and vectors.
    """
    work = matmul(m=1, n=n, k=k, dtype=dtype)
    return Work(work.operations, work.bytes, f"gemv {n} x {k}", work.dtype)


def attention(
    *,
    queries: int,
    keys: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    batch: int = 1,
    causal: bool = False,
    dtype: str = "bf16",
) -> Work:
    """Scores, softmax and values, fused: Q, K, V and the output moved once.

    Parameters
    ----------
    queries, keys : int
        Tokens asking and tokens asked; one query against many keys is decode.
    heads, kv_heads, head_dim : int
        ``heads`` is a multiple of ``kv_heads``.
    causal : bool
        Each query sees the keys up to its own place; needs queries <= keys.

    Raises
    ------
    ValueError
        For a size below one, heads that do not divide, or a causal mask with
        more queries than keys.
    """
    fmt = find_dtype(dtype)
    sizes = {
        "queries": queries,
        "keys": keys,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "batch": batch,
    }
    q = {name: sized(v, name) for name, v in sizes.items()}
    if heads % kv_heads:
        raise ValueError(f"heads = {heads} is no multiple of kv_heads = {kv_heads}")
    if causal and queries > keys:
        raise ValueError(f"causal: queries = {queries} exceed keys = {keys}")
    pairs = q["queries"] * q["keys"]
    if causal:
        pairs = pairs - q["queries"] * (q["queries"] - 1) / 2
    width = q["batch"] * q["heads"] * q["head_dim"]
    operations = 2 * _per_mac(fmt.operation) * width * pairs.named("query-key pairs")
    cached = 2 * q["batch"] * q["kv_heads"] * q["head_dim"] * q["keys"]
    moved = (2 * width * q["queries"] + cached) * bytes_per_element(dtype)
    return Work(
        operations.named("operations"),
        moved.named("bytes moved"),
        f"attention {queries} on {keys}",
        fmt.name,
    )
