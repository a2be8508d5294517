"""Chains of unlike levels: equal to a reading byte by byte, and nothing made up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache, chain
from stacklib.memory.cache import _cache_kernel as kernel
from stacklib.memory.cache import chain as chains
from stacklib.memory.cache.cache import ON_STORE, WRITES

from ...rows import refusals

LINES = [(32, 32), (64, 32), (128, 32), (128, 128), (96, 48), (64, 64), (128, 64)]


class Bytes:
    """A level that knows of every byte whether it is held, and whether dirty."""

    def __init__(self, cache: Cache, behind) -> None:
        self.c, self.behind = cache, behind
        self.sets = [[] for _ in range(cache.sets)]  # [line, held, dirty], oldest first
        self.read = self.out = self.hits = self.asked = self.dirtied = 0

    def access(self, wanted: set[int], store: bool) -> None:
        """Bytes of one range, sector by sector."""
        grain = self.c.granule
        for sector in sorted({b // grain for b in wanted}):
            every = set(range(sector * grain, sector * grain + grain))
            self.sector(every, wanted & every, store)

    def sector(self, every: set[int], wanted: set[int], store: bool) -> None:
        self.asked += 1
        number = min(every) // self.c.line
        held = self.sets[number % self.c.sets]
        entry = next((e for e in held if e[0] == number), None)
        through = store and self.c.write == "through"
        bare = store and self.c.on_store == "validate" and not through
        if entry:
            written = store and self.c.on_store == "validate"
            there = entry[1] | (entry[2] if written else set())
            self.hits += every <= there
        fetch = not through and not bare and not (entry and every <= entry[1])
        if fetch:
            self.read += len(every)
            self.behind and self.behind.access(every, False)
        if entry is None and not through:
            if len(held) == self.c.ways:
                self.leave(held.pop(0)[2])
            entry = [number, set(), set()]
            held.append(entry)
        elif entry and self.c.policy == "lru":
            held.remove(entry)
            held.append(entry)
        if through:
            self.behind and self.behind.access(wanted, True)
            return
        if not bare or wanted == every:
            entry[1] |= every
        if store:
            self.dirtied += len(every - entry[2])
            entry[2] |= every  # a sector goes out whole

    def leave(self, dirty: set[int]) -> None:
        self.out += len(dirty)
        run: list[int] = []
        for byte in [*sorted(dirty), -1]:
            if run and byte != run[-1] + 1:
                self.behind and self.behind.access(set(run), True)
                run = []
            run.append(byte)


def levels_of(r) -> list[Cache]:
    made = []
    for _ in range(r.integers(1, 4)):
        line, sector = LINES[r.integers(len(LINES))]
        sets, ways = [(1, 1), (1, 3), (2, 2), (3, 2)][r.integers(4)]
        made.append(
            Cache(
                int(sets * ways * line),
                ways,
                line,
                sector,
                ["lru", "fifo"][r.integers(2)],
                write=WRITES[r.integers(2)],
                on_store=ON_STORE[r.integers(2)],
            )
        )
    return made


@pytest.mark.rows("hundred", range(3))
def test_chains_of_unlike_levels_are_read_byte_by_byte(hundred):
    for seed in range(100 * hundred, 100 * hundred + 100):
        r = np.random.default_rng(seed)
        levels = levels_of(r)
        slow: list[Bytes] = []
        for cache in reversed(levels):
            slow.insert(0, Bytes(cache, slow[0] if slow else None))
        addresses, sizes = 4 * r.integers(0, 200, 30), r.integers(1, 150, 30)
        stores = r.random(30) < 0.5
        for address, size, store in zip(addresses, sizes, stores, strict=True):
            slow[0].access(set(range(address, address + size)), store)
        found = chain(levels, addresses, stores, sizes)
        for ours, told in zip(found, slow, strict=False):
            assert (ours.accesses, ours.hits) == (told.asked, told.hits), seed
            assert (ours.bytes_in, ours.bytes_out) == (told.read, told.out), seed
            assert ours.bytes_dirtied == told.dirtied, seed
        assert all(told.asked == 0 for told in slow[len(found) :]), seed


@given(
    st.lists(st.tuples(st.integers(0, 99), st.booleans()), min_size=1, max_size=200),
    st.sampled_from(kernel.POLICIES),
    st.sampled_from(WRITES),
    st.sampled_from(ON_STORE),
)
@settings(max_examples=100, deadline=None)
def test_no_level_writes_what_was_not_dirtied_or_reads_what_nobody_touched(
    accesses, policy, write, on_store
):
    addresses, stores = map(np.array, zip(*accesses, strict=True))
    shape = {"write": write, "on_store": on_store, "policy": policy}
    levels = [Cache(512, 2, 128, 32, **shape), Cache(1024, 4, 64, **shape)]
    for level in chain(levels, 32 * addresses, stores):
        inside = level.bytes_dirtied - level.bytes_out
        assert 0 <= inside <= 1024
        assert level.bytes_in <= level.bytes_touched
        assert level.bytes_dirtied <= np.count_nonzero(stores) * 128


def test_a_store_of_one_sector_writes_one_sector_back():
    # the second line drives the first out
    found = Cache(128, 1, 128, sector=32).run([96, 128], [True, False])
    assert (found.bytes_out, found.bytes_dirtied, found.bytes_in) == (32, 32, 64)


def test_the_fourth_sector_arrives_as_the_fourth():
    near = Cache(128, 1, 128, sector=32)
    seen = chain([near, Cache(1024, 1, 32)], [96, 128], [True, False])[1]
    assert seen.accesses == 3 and seen.origin.tolist() == [0, 1, 1]
    far = Cache(32, 1, 32)  # one line: what is stored there is driven out as itself
    last = chain([near, far], [96, 128, 256], [True, False, False])[1]
    assert last.evicted[last.evicted >= 0].tolist() == [96]


def test_a_line_missed_reads_all_of_its_sectors_behind():
    near, far = Cache(128, 1, 128), Cache(1024, 2, 128, sector=32)
    found = chain([near, far], [0])
    assert [level.bytes_in for level in found] == [128, 128]
    assert found[1].accesses == 4


def test_a_store_of_a_whole_sector_fetches_nothing_where_it_is_validated():
    fetches, validates = (Cache(128, 1, 128, 32, on_store=how) for how in ON_STORE)
    stored = [0, 0], [True, False]
    assert (fetches.run(*stored).bytes_in, validates.run(*stored).bytes_in) == (32, 0)
    # Of a part, the rest is fetched when the sector is read, and then once.
    part = validates.run([0, 0, 0, 0], [True, True, False, False], 4)
    assert part.hit.tolist() == [False, True, False, True]
    assert part.bytes_in == 32


test_what_is_no_size_is_refused = refusals(
    (0, "below one"),
    ([1], "1 sizes"),
    (1.5, "float"),
    (33, "reach beyond"),
    by=lambda sizes: Cache(128, 1, 128, 32).run([0, 32], None, sizes),
)


@pytest.mark.parametrize(
    "levels",
    [
        [Cache(256, 2, 128, 32), Cache(256, 1, 64), Cache(1024, 2, 32)],
        [Cache(256, 2, 64), Cache(512, 1, 64), Cache(1024, 2, 64)],
    ],
)
def test_plain_python_passes_on_the_same(levels):
    random = np.random.default_rng(0)
    trace = random.integers(0, 3000, 300), random.random(300) < 0.5
    quick = chain(levels, *trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "fast", lambda loop: loop)
        plain = chain(levels, *trace)
    for a, b in zip(quick, plain, strict=True):
        assert a.hit.tolist() == b.hit.tolist()
        assert a.backs.tolist() == b.backs.tolist()
