"""A work-queue element: the 48 bytes that ask an mlx5 port for one RDMA write.

Three segments of 16 bytes, every number big-endian. Layout: rdma-core,
``providers/mlx5/mlx5dv.h`` at commit 691953d8 (``mlx5_wqe_ctrl_seg``, ``_raddr_seg``,
``_data_seg``, ``mlx5dv_set_ctrl_seg``), and the same written by a GPU in DeepEP,
``csrc/kernels/legacy/ibgda_device.cuh`` at dd758caf; read as facts.

    control   0  opmod 8 bits, index 16, opcode 8     8  sign 8, stream 16, flags 8
              4  queue pair 24, segments 8           12  immediate 32
    remote   16  address 64                          24  key 32, zero 32
    local    32  size 32, key 32                     40  address 64
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from stacklib.quantity.bounds import whole

LAYOUT = Struct(">IIBHBIQIIIIQ")
SIZE = LAYOUT.size  # bytes
SLOT = 64  # bytes that an element keeps in the ring: one basic block
SEGMENTS = 3  # of 16 bytes each
RDMA_WRITE, RDMA_WRITE_IMMEDIATE = 0x08, 0x09
COMPLETE = 2 << 2  # a completion is wanted
SOLICITED = 1 << 1
FENCE = 4 << 5
FLAGS = COMPLETE | SOLICITED | FENCE


@dataclass(frozen=True, slots=True)
class Write:
    """What an element says: so many bytes from here, to there, by that queue pair."""

    index: int  # of the element, modulo 2**16
    queue_pair: int
    remote_address: int
    remote_key: int
    local_address: int
    local_key: int
    size: int  # bytes
    immediate: int | None = None  # handed to the other side
    complete: bool = True
    solicited: bool = False
    fence: bool = False


WIDTHS = {  # bits
    "index": 16,
    "queue_pair": 24,
    "remote_address": 64,
    "remote_key": 32,
    "local_address": 64,
    "local_key": 32,
    "size": 31,  # the highest bit would say that the data follow in the queue itself
}


def write_wqe(
    index: int,
    queue_pair: int,
    remote_address: int,
    remote_key: int,
    local_address: int,
    local_key: int,
    size: int,
    *,
    immediate: int | None = None,
    complete: bool = True,
    solicited: bool = False,
    fence: bool = False,
) -> bytes:
    """Encode an RDMA write as the 48 bytes an mlx5 port reads.

    Parameters
    ----------
    index : int
        Place of the element in its queue, modulo 65,536.
    queue_pair : int
        Number of the queue pair, 24 bits.
    remote_address, remote_key, local_address, local_key : int
        Where the bytes go and come from, with the keys of both registered regions.
    size : int
        Bytes, from 1 to 2**31 - 1.
    immediate : int, optional
        32 bits that the other side is told with the write's completion.
    complete, solicited, fence : bool
        Flags: report completion, wake the other side, wait for reads before.

    Returns
    -------
    bytes
        Control, remote address and data segment, 16 bytes each.

    Raises
    ------
    ValueError
        For a number that its field cannot hold, named.

    Examples
    --------
    >>> wqe = write_wqe(5, 0x1A2B, 0x7F0000001000, 0x1234, 0x10000, 0x77, 7392)
    >>> len(wqe), wqe[:16].hex(" ", 4)
    (48, '00000508 001a2b03 00000008 00000000')
    >>> read_wqe(wqe).size
    7392
    """
    entry = Write(
        index,
        queue_pair,
        remote_address,
        remote_key,
        local_address,
        local_key,
        size,
        immediate,
        complete,
        solicited,
        fence,
    )
    for name, bits in WIDTHS.items():
        _fits(name, getattr(entry, name), bits)
    if size < 1:
        raise ValueError(f"size = {size!r}: an element moves a byte at least")
    if immediate is not None:
        _fits("immediate", immediate, 32)
    flags = COMPLETE * complete | SOLICITED * solicited | FENCE * fence
    opcode = RDMA_WRITE if immediate is None else RDMA_WRITE_IMMEDIATE
    control = (index << 8 | opcode, queue_pair << 8 | SEGMENTS, 0, 0, flags)
    remote = (remote_address, remote_key, 0)
    return LAYOUT.pack(
        *control, immediate or 0, *remote, size, local_key, local_address
    )


def _fits(name: str, value: int, bits: int) -> None:
    whole(0, **{name: value})
    if value >> bits:
        raise ValueError(f"{name} = {value!r} does not fit {bits} bits")


def read_wqe(wqe: bytes) -> Write:
    """Decode what ``write_wqe`` wrote, and refuse what it would not have written.

    - raises ``ValueError`` for another length, and names the field that is wrong.
    """
    if len(wqe) != SIZE:
        raise ValueError(f"{len(wqe)} bytes: an element of an RDMA write has {SIZE}")
    head, pair, sign, stream, flags, immediate, *rest = LAYOUT.unpack(wqe)
    remote_address, remote_key, zero, size, local_key, local_address = rest
    opmod, index, opcode = head >> 24, head >> 8 & 0xFFFF, head & 0xFF
    if opcode not in (RDMA_WRITE, RDMA_WRITE_IMMEDIATE):
        raise ValueError(f"opcode {opcode:#04x} is no RDMA write: 0x08 or 0x09")
    if pair & 0xFF != SEGMENTS:
        raise ValueError(f"{pair & 0xFF} segments: an RDMA write here has {SEGMENTS}")
    for name, value in {
        "opmod": opmod,
        "signature": sign,
        "stream": stream,
        "reserved": zero,
        "flags": flags & ~FLAGS,
        "immediate": immediate if opcode == RDMA_WRITE else 0,
        "inline bit": size >> 31,
    }.items():
        if value:
            raise ValueError(f"{name} is {value:#x}: zero is needed")
    if not size:
        raise ValueError("size is 0: an element moves a byte at least")
    return Write(
        index,
        pair >> 8,
        remote_address,
        remote_key,
        local_address,
        local_key,
        size,
        None if opcode == RDMA_WRITE else immediate,
        bool(flags & COMPLETE),
        bool(flags & SOLICITED),
        flags & FENCE == FENCE,
    )
