"""The 48 bytes of an RDMA write: against vectors, there and back, and refused."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.queues.wqe import (
    SIZE,
    SLOT,
    WIDTHS,
    Write,
    read_wqe,
    write_wqe,
)

PLAIN = (0x0102, 0x030405, 0x0607080910111213, 0x14151617, 0x18 << 56, 0x20212223, 7392)


def test_a_vector_written_out_by_hand():
    """Field by field from the public struct: no packing of ours in it."""
    expected = bytes.fromhex(
        "00 0102 08"  # opmod, index, opcode RDMA_WRITE
        "030405 03"  # queue pair, three segments
        "00 0000 08 00000000"  # signature, stream, CQ_UPDATE = 2 << 2, immediate
        "0607080910111213 14151617 00000000"  # remote address, key, reserved
        "00001ce0 20212223 1800000000000000"  # 7392 bytes, local key, local address
    )
    assert write_wqe(*PLAIN) == expected
    assert len(expected) == SIZE == 48 < SLOT == 64


def test_a_vector_of_the_other_flags():
    wqe = write_wqe(
        *PLAIN, immediate=0xCAFE, complete=False, solicited=True, fence=True
    )
    assert wqe[3] == 0x09 and wqe[11] == 0x82 and wqe[12:16].hex() == "0000cafe"
    assert write_wqe(*PLAIN, complete=False)[11] == 0


def _shuffled(index, opcode, pair, flags, segments):
    """The control segment as rdma-core's SSE path makes it: 16 bytes put in order.

    ``_mm_set_epi32(imm, qpn, ds << 16 | pi, sign << 24 | op << 16 | mod << 8 | flags)``
    and then byte ``i`` of the result is byte ``mask[i]``; 0x80 gives zero.
    """
    row = struct.pack("<IIII", opcode << 16 | flags, segments << 16 | index, pair, 0)
    mask = (1, 5, 4, 2, 10, 9, 8, 6, 3, 0x80, 0x80, 0, 15, 14, 13, 12)
    return bytes(0 if at == 0x80 else row[at] for at in mask)


numbers = {name: st.integers(0, (1 << bits) - 1) for name, bits in WIDTHS.items()}
writes = st.builds(
    Write,
    **{**numbers, "size": st.integers(1, (1 << 31) - 1)},
    immediate=st.one_of(st.none(), st.integers(0, (1 << 32) - 1)),
    complete=st.booleans(),
    solicited=st.booleans(),
    fence=st.booleans(),
)


def wrote(write: Write) -> bytes:
    return write_wqe(**{name: getattr(write, name) for name in write.__slots__})


@settings(deadline=None, max_examples=200)
@given(writes)
def test_what_is_written_is_read(write):
    assert read_wqe(wrote(write)) == write


@settings(deadline=None, max_examples=100)
@given(writes.filter(lambda w: w.immediate is None))
def test_the_control_segment_is_the_shuffled_one(write):
    flags = 8 * write.complete | 2 * write.solicited | 0x80 * write.fence
    assert wrote(write)[:16] == _shuffled(write.index, 8, write.queue_pair, flags, 3)


@settings(deadline=None, max_examples=100)
@given(writes, st.integers(0, SIZE * 8 - 1))
def test_a_flipped_bit_is_refused_or_another_write(write, bit):
    wqe = bytearray(wrote(write))
    wqe[bit // 8] ^= 1 << bit % 8
    try:
        assert read_wqe(bytes(wqe)) != write
    except ValueError:
        pass


@pytest.mark.rows(
    ("at", "value", "says"),
    [
        (0, 1, "opmod"),
        (3, 0x0A, "opcode 0x0a"),
        (7, 4, "4 segments"),
        (8, 1, "signature"),
        (10, 1, "stream"),
        (11, 1, "flags"),
        (15, 1, "immediate"),
        (31, 1, "reserved"),
        (32, 0x80, "inline bit"),
    ],
)
def test_a_wrong_field_is_named(at, value, says):
    wqe = bytearray(write_wqe(*PLAIN))
    wqe[at] = value
    with pytest.raises(ValueError, match=says):
        read_wqe(bytes(wqe))


def test_sizes_and_lengths_are_refused():
    with pytest.raises(ValueError, match="47 bytes"):
        read_wqe(write_wqe(*PLAIN)[:47])
    empty = bytearray(write_wqe(*PLAIN))
    empty[32:36] = bytes(4)
    with pytest.raises(ValueError, match="size is 0"):
        read_wqe(bytes(empty))
    with pytest.raises(ValueError, match="size = 0"):
        write_wqe(*PLAIN[:-1], 0)
    with pytest.raises(ValueError, match=r"immediate = \d+ does not fit 32 bits"):
        write_wqe(*PLAIN, immediate=1 << 32)


@pytest.mark.rows("name", WIDTHS)
def test_a_number_too_wide_or_negative_is_named(name):
    good = dict(zip(WIDTHS, PLAIN, strict=True))
    for value in (1 << WIDTHS[name], -1, 1.5, True):
        with pytest.raises(ValueError, match=name):
            write_wqe(**{**good, name: value})
