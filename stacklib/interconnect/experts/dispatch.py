"""Bytes and time of an exchange of experts: dispatch there, combine back.

    bytes = tokens copies (hidden size + hidden / block scale)
    time  = max(NVLink's bytes / its rate, the network's / its rate) + latency

A floor where latency is zero: what a rank sends, at the rate its links reach. Copies
are those of ``count.expect``: they depend on ``top_k`` and on where ranks lie, not on
how many experts there are. Left out: skew (multiply by ``Counted.imbalance``), posting
rates, and that one SM a message copies it first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, bytes_per_element, chosen, maximum, resolve
from stacklib.quantity.bounds import above_zero, at_least, whole

from .count import ONCE, Copies, expect

SCALE = "fp32"  # in which a block's scale travels


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What one rank sends in one exchange, in bytes."""

    token: Any  # one copy of one token
    sent: Any  # of all copies, those that stay included
    own: Any
    nvlink: Any
    network: Any
    messages: Any  # over the network, one a copy
    copies: Copies


def token_bytes(
    hidden: Any, dtype: str = "fp8", scales: int | None = 128, header: int = 0
) -> Any:
    """Bytes of a token: numbers, a scale of fp32 a block of ``scales``, a header."""
    number: Any = bytes_per_element(dtype)
    scale: Any = bytes_per_element(SCALE)
    if not isinstance(hidden, Quantity):  # floats and arrays stay what they are
        number, scale = number.si, scale.si
    size = hidden * number
    if scales is not None:
        size = size + hidden / scales * scale
    if isinstance(size, Quantity):
        return size + chosen(header, "B", label="header") if header else size
    return size + header


def dispatch_bytes(
    tokens: Any,
    top_k: int = 8,
    hidden: Any = 7168,
    dtype: str = "fp8",
    scales: int | None = 128,
    *,
    ranks: int,
    ranks_per_node: int = 8,
    experts: int = 256,
    once: str = "expert",
    top_nodes: int | None = None,
    header: int = 0,
) -> Dispatch:
    """Bytes that one rank sends when each token goes to ``top_k`` experts.

    Parameters
    ----------
    tokens : float, Quantity or array
        Tokens of one rank.
    top_k : int
        Experts a token goes to.
    hidden : float, Quantity or array
        Numbers of a token.
    dtype : str
        In which they travel: ``fp8`` there, ``bf16`` back in DeepEP.
    scales : int, optional
        Numbers that share a scale of fp32; None where there are none.
    ranks, ranks_per_node : int
        Ranks that hold the experts, and how many of them NVLink joins.
    experts : int
        In all; the result hardly depends on it.
    once : str
        A copy for each ``expert``, ``rank`` or ``node``.
    top_nodes : int, optional
        Nodes whose experts a token may take, at most.
    header : int
        Bytes before each token (DeepEP's low-latency kernels: 16).

    Returns
    -------
    Dispatch
        ``.token``, ``.sent``, ``.nvlink``, ``.network`` in bytes, ``.messages``.

    Raises
    ------
    ValueError
        For counts below one, experts that do not divide over the ranks, or ranks that
        leave a node half full.

    Examples
    --------
    >>> sent = dispatch_bytes(128, ranks=256)
    >>> sent.token, f"{sent.sent / 1e6:.2f} MB"
    (7392.0, '7.57 MB')
    >>> dispatch_bytes(128, ranks=256, experts=1024).sent == sent.sent
    True
    """
    once = resolve(once, ONCE, "way of sending")
    above_zero(tokens=tokens, hidden=hidden)
    at_least(0, header=header)
    if scales is not None:
        whole(scales=scales)
    copies = expect(
        experts=experts,
        top_k=top_k,
        ranks=ranks,
        ranks_per_node=ranks_per_node,
        once=once,
        top_nodes=top_nodes,
    )
    if isinstance(tokens, Quantity) and not isinstance(hidden, Quantity):
        hidden = chosen(hidden, label="hidden size")
    token = token_bytes(hidden, dtype, scales, header)
    all_ = float(top_k) if once == "expert" else copies.all
    return Dispatch(
        token,
        tokens * all_ * token,
        tokens * copies.own * token,
        tokens * copies.nvlink * token,
        tokens * copies.network * token,
        tokens * copies.network,
        copies,
    )


def dispatch_time(
    sent: Dispatch, *, nvlink: Any, network: Any, latency: Any = 0.0
) -> Any:
    """Seconds of an exchange: the slower of NVLink and network, and a latency.

    Parameters
    ----------
    sent : Dispatch
        What a rank sends.
    nvlink, network : float, Quantity or array
        Bytes a second out of one rank, one way, as far as such links reach.
    latency : float, Quantity or array
        Seconds besides: launch, routing, the first byte's way, the last one's flag;
        zero gives the floor.

    Raises
    ------
    ValueError
        For a rate that is not above zero, or a latency below it.

    Examples
    --------
    >>> floor = dispatch_time(dispatch_bytes(128, ranks=8), nvlink=160e9, network=50e9)
    >>> f"{floor * 1e6:.1f} us"
    '41.4 us'
    >>> far = dispatch_time(dispatch_bytes(128, ranks=256), nvlink=160e9, network=50e9)
    >>> f"{far * 1e6:.1f} us"
    '146.7 us'
    """
    above_zero(nvlink=nvlink, network=network)
    at_least(0, latency=latency)
    return maximum(sent.nvlink / nvlink, sent.network / network) + latency


@dataclass(frozen=True, slots=True)
class Messages:
    """What leaves one rank's port in an exchange, and what NVLink carries for it."""

    count: int
    size: float  # bytes of each
    nvlink: float  # bytes handed to the rank whose port sends them

    @property
    def network(self) -> float:
        """Bytes over the network, the same either way."""
        return self.count * self.size


def pxn(
    each: float, *, ranks: int, ranks_per_node: int = 8, together: bool = True
) -> Messages:
    """Messages of an exchange in which every rank has ``each`` bytes for every other.

    - ``together``: all ranks of a node hand what is for rank ``j`` of another node to
      their own rank ``j``, whose port sends it as one message (NCCL's PXN); otherwise
      each sends its own.
    """
    above_zero(each=each)
    whole(ranks=ranks, ranks_per_node=ranks_per_node)
    local = min(ranks, ranks_per_node)
    if ranks % local:
        raise ValueError(f"ranks = {ranks} do not fill nodes of {local}")
    far = ranks - local
    if not together:
        return Messages(far, each, 0.0)
    return Messages(far // local, each * local, each * far * (local - 1) / local)
