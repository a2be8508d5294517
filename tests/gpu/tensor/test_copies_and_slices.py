"""Tile copies, clusters, MIG and DPX: counted, and in closed form."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.chip import slices
from stacklib.gpu.tensor.dpx import FUSED, PLAIN, REPLACES, align, per_cell
from stacklib.gpu.tensor.tile_copies import WAYS, count, slots, step_cycles

from ...rows import refusals

whole = st.integers(1, 6)


@given(st.integers(1, 300_000), st.sampled_from(list(WAYS)))
def test_slots_are_counted(tile_bytes, way):
    assert count(tile_bytes, way).total() == slots(tile_bytes, way)


def test_tma_is_one_copy_whatever_the_tile():
    for size in (16, 2048, 65536):
        assert count(size, "TMA")["cp.async.bulk.tensor"] == 1
    assert step_cycles(96, 200, 250) == 296 and step_cycles(2, 200, 250) == 250


@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.integers(1, 16), whole)
def test_clusters_are_placed_as_many_as_fit(units, size, blocks):
    placed = slices.place_clusters(units, size, blocks)
    assert len(placed) == slices.clusters_that_fit(units, size, blocks)
    ends = list(itertools.accumulate(units))
    for cluster in placed:  # all in one GPC
        assert len({sum(u >= e for e in ends) for u in cluster}) == 1
    used = [u for cluster in placed for u in cluster]
    assert all(used.count(u) <= blocks for u in set(used))


@given(whole, whole, whole, whole, whole)
def test_a_cluster_loads_each_once(tile_m, tile_n, k, rows, columns):
    assert slices.cluster_bytes_counted(
        tile_m, tile_n, k, rows, columns
    ) == pytest.approx(slices.cluster_bytes(tile_m, tile_n, k, rows, columns))


def test_as_many_instances_as_the_guide_says():
    # NVIDIA MIG User Guide, "Number of Instances Available", A100 and H100
    guide = {"1g": 7, "2g": 3, "3g": 2, "4g": 1, "7g": 1}
    for name, most in guide.items():
        assert slices.placements([name] * most) is not None
        assert slices.placements([name] * (most + 1)) is None
    assert slices.placements(["4g", "3g"]) and not slices.placements(["4g", "4g"])
    assert slices.placements(["3g", "3g", "1g"]) is None  # no memory slice is left


def test_no_placement_overlaps():
    for many in itertools.product(range(8), range(4), range(3), range(2), range(2)):
        wanted = [
            n for n, k in zip(slices.PROFILES, many, strict=True) for _ in range(k)
        ]
        found = slices.placements(wanted)
        if found is None or not wanted:
            continue
        used = [s + i for n, s in found for i in range(slices.PROFILES[n].memory)]
        assert len(used) == len(set(used)) and max(used) < slices.MEMORY_SLICES
        assert all(share >= 0 for share in slices.unused(wanted))
    assert slices.unused(["1g"] * 7) == (0, Fraction(1, 8))
    assert slices.unused(["3g"] * 2) == (Fraction(1, 7), 0)


def plain(a, b, match=2, miss=-1, opened=3, extended=1):
    """Smith-Waterman by its definition: every gap length tried."""
    h = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        found = [0, h[i - 1][j - 1] + (match if a[i - 1] == b[j - 1] else miss)]
        cost = [opened + extended * (k - 1) for k in range(1, max(i, j) + 1)]
        found += [h[i - k][j] - cost[k - 1] for k in range(1, i + 1)]
        found += [h[i][j - k] - cost[k - 1] for k in range(1, j + 1)]
        h[i][j] = max(found)
    return max(map(max, h))


letters = st.text("ACGT", min_size=1, max_size=14)


@settings(deadline=None)
@given(letters, letters, st.integers(1, 5))
def test_the_score_is_right_and_the_count_is_that_of_a_cell(a, b, opened):
    for fused, names in ((False, PLAIN), (True, FUSED)):
        found = align(a, b, fused=fused, opened=opened)
        assert found.score == plain(a, b, opened=opened)
        assert found.issued == {n: k * found.cells for n, k in names.items()}
        assert found.per_cell == per_cell(fused)


def test_unfolding_the_fused_gives_the_plain():
    unfolded: dict[str, int] = {}
    for name, many in FUSED.items():
        for one in REPLACES.get(name, (name,)):
            unfolded[one] = unfolded.get(one, 0) + many
    assert unfolded == PLAIN


test_bad_input = refusals(
    (lambda: count(0, "TMA"), "0"),
    (lambda: count(1.5, "TMA"), "1.5"),
    (lambda: count(16, "tma"), "'tma'"),
    (lambda: slots(16, "dma"), "'dma'"),
    (lambda: slices.clusters_that_fit([16], 0), "size = 0"),
    (lambda: slices.placements(["5g"]), "'5g'"),
    (lambda: align("", "A", fused=True), "0 and 1"),
    (lambda: align("A", "A", fused=True, opened=-1), "opened = -1"),
)
