"""Chains of elementwise operations: closed form against a cache that counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache
from stacklib.memory.tile.fusion import chain_bytes, chain_trace

from ...rows import refusals

CACHE = Cache(16 * 1024, 8, 64)  # 4,096 numbers of four bytes


def counted(operations, elements, block):
    run = CACHE.run(*chain_trace(operations, elements, 4, block))
    return run.bytes_in + run.bytes_out


@given(st.integers(1, 9), st.sampled_from([2**15, 2**16]))
@settings(max_examples=30, deadline=None)
def test_array_by_array_everything_crosses_every_time(operations, elements):
    moved = counted(operations, elements, elements)
    # What is still in the cache at the end was not written back.
    assert 0 <= chain_bytes(operations, elements, 4) - moved <= CACHE.size


@given(st.integers(1, 9), st.sampled_from([256, 512, 1024]))
@settings(max_examples=30, deadline=None)
def test_blocks_that_fit_cross_once(operations, block):
    elements = 2**16
    moved = counted(operations, elements, block)
    ideal = chain_bytes(operations, elements, 4, near=operations)
    assert abs(moved - ideal) <= CACHE.size


def test_a_block_too_large_is_no_block():
    whole, fits = counted(6, 2**16, 2**16), counted(6, 2**16, 2**10)
    assert counted(6, 2**16, 2**14) == pytest.approx(whole, rel=0.03)
    assert whole / fits == pytest.approx(6, rel=0.03)


test_bad_chains_are_refused = refusals(
    ((0, 64, 4, 64), "operations = 0"),
    ((2, 64, 4, 0), "block = 0"),
    ((2, 100, 4, 64), "100 elements in blocks of 64"),
    ((2, 64, 4, 8), "whole 64-byte lines"),
    by=lambda arguments: chain_trace(*arguments),
)
