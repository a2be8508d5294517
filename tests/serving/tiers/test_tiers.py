"""Tiers that move bytes: bit for bit, never another's, never more than fits."""

import gc
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.tiers.chain import Chain
from stacklib.serving.tiers.file import FileTier
from stacklib.serving.tiers.host import HostTier

MAKE = {"host": HostTier, "file": FileTier}


def block(n, size=6):
    """Keys and values told apart by ``n``, with bits that no float compare sees."""
    k = np.random.default_rng(n).standard_normal((2, size)).astype("float32")
    return k, np.frombuffer(np.uint32([0x7FC00000 + n, 0x80000000]), "float32")


def same(found, n):
    return found is not None and all(
        a.tobytes() == b.tobytes() and a.shape == b.shape and a.dtype == b.dtype
        for a, b in zip(found, block(n), strict=True)
    )


@pytest.mark.rows("kind", MAKE)
@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "get", "discard"]), st.integers(0, 6)),
        max_size=40,
    ),
    st.integers(1, 4),
)
@settings(max_examples=25, deadline=None)
def test_a_tier_is_a_dictionary_that_forgets_the_oldest(kind, calls, room):
    held: dict[int, None] = {}
    with MAKE[kind](room) as tier:
        for what, key in calls:
            if what == "put":
                left = tier.put(key, *block(key))
                full = key not in held and len(held) == room
                gone = [next(iter(held))] if full else []
                assert [entry[0] for entry in left] == gone
                assert all(same(entry[1:], entry[0]) for entry in left)
                for old in (*gone, key):
                    held.pop(old, None)
                held[key] = None
            elif what == "get":
                found = tier.get(key)
                assert same(found, key) if key in held else found is None
                if key in held:
                    held[key] = held.pop(key)
            else:
                assert tier.discard(key) == (key in held)
                held.pop(key, None)
            assert set(tier.keys) == set(held) and len(tier) == len(held) <= room
    assert len(tier) == 0


@pytest.mark.rows("kind", MAKE)
def test_bytes_are_counted_and_copies_are_the_callers(kind):
    with MAKE[kind](1) as tier:
        k, v = block(1)
        mine = k.copy()
        tier.put("a", mine, v)
        mine[:] = 0
        tier.get("a")[0][:] = 0
        assert same(tier.get("a"), 1) and tier.get("b") is None
        tier.put("b", *block(2))
        size, told = k.nbytes + v.nbytes, tier.moved
        assert (told.bytes_in, told.bytes_out) == (2 * size, 3 * size)
        assert (told.puts, told.gets, told.misses, told.dropped) == (2, 2, 1, 1)


@pytest.mark.rows("kind", MAKE)
def test_equal_keys_are_one_key_and_bad_ones_none(kind):
    with MAKE[kind](2) as tier:
        tier.put(1, *block(1))
        assert same(tier.get(np.int64(1)), 1)
        with pytest.raises(ValueError, match="objects"):
            tier.put(2, np.array([None]), block(2)[1])
    for bad in (0, -1, 1.5, True, float("nan")):
        with pytest.raises(ValueError, match="capacity = "):
            MAKE[kind](bad)
    with pytest.raises(ValueError, match="use one of lru"):
        MAKE[kind](1, policy="newest")


def changed(tier, at, by=1):
    """Flip a bit of the file."""
    file = os.open(tier.path, os.O_RDWR)
    byte = os.pread(file, 1, at)[0]
    os.pwrite(file, bytes([byte ^ by]), at)
    os.close(file)


def test_every_flipped_bit_of_a_slot_is_refused(tmp_path):
    with FileTier(2, tmp_path) as tier:
        tier.put(1, *block(1))
        slot = tier.path.stat().st_size // 2
        for at in range(slot):
            tier.put(1, *block(1))
            place = slot * next(iter(tier._slots.values()))[0]
            changed(tier, place + at, 1 << at % 8)
            assert 1 in tier and tier.get(1) is None and 1 not in tier
        assert tier.moved.refused == slot


def test_another_keys_slot_and_a_file_cut_short_are_refused(tmp_path):
    with FileTier(3, tmp_path) as tier:
        for n in (1, 2, 3):
            tier.put(n, *block(n))
        places = {key: slot[0] for key, slot in tier._slots.items()}
        size = tier.path.stat().st_size // 3
        raw = tier.path.read_bytes()
        with open(tier.path, "r+b") as file:  # block 2 where block 1 was
            file.seek(places[1] * size)
            file.write(raw[places[2] * size : (places[2] + 1) * size])
        assert tier.get(1) is None and same(tier.get(2), 2)
        os.truncate(tier.path, 2 * size + 5)
        assert tier.get(next(key for key in places if places[key] == 2)) is None
        # What leaves a full tier unreadable is lost, and said so, not handed on.
        os.truncate(tier.path, 0)
        for n in (4, 5, 6):
            tier.put(n, *block(n))
        os.truncate(tier.path, 0)
        assert tier.put(7, *block(7)) == () and tier.moved.refused == 4


def test_a_file_is_whole_from_the_first_block_on_and_gone_at_the_end(tmp_path):
    tier = FileTier(5, tmp_path / "kv")
    tier.put(1, *block(1))
    size = tier.path.stat().st_size
    tier.put(2, *block(2))
    assert tier.path.stat().st_size == size and size % 5 == 0
    with pytest.raises(ValueError, match="every slot holds"):
        tier.put(3, *block(3, size=7))
    with pytest.raises(FileExistsError, match="is there"):
        FileTier(5, tmp_path / "kv")
    tier.close(), tier.close()
    assert not any(tmp_path.iterdir())
    with pytest.raises(OSError, match="closed"):
        tier.put(1, *block(1))
    FileTier(1, tmp_path).put(1, *block(1))  # nobody closes it
    gc.collect()
    assert not any(tmp_path.iterdir())


def test_a_full_disk_is_known_at_once_and_leaves_nothing_half_done(monkeypatch):
    with FileTier(2) as tier:
        with monkeypatch.context() as patch:
            patch.setattr(os, "posix_fallocate", no_room, raising=False)
            patch.setattr(os, "ftruncate", no_room)
            with pytest.raises(OSError, match="no room"):
                tier.put(1, *block(1))
        tier.put(1, *block(1))
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", no_room)
            for key in (1, 2):
                with pytest.raises(OSError, match="no room"):
                    tier.put(key, *block(key))
        assert len(tier) == 0
        for key in (1, 2, 3):  # every slot is there to be used
            tier.put(key, *block(key))
        assert same(tier.get(2), 2) and same(tier.get(3), 3)


def no_room(*of):
    raise OSError("no room")


def test_a_write_in_pieces_is_finished(monkeypatch):
    whole = os.pwrite
    with FileTier(1) as tier, monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", lambda f, b, at: whole(f, b[:7], at))
        tier.put(1, *block(1))
        assert same(tier.get(1), 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_neither_uses_nor_removes_the_file():
    tier = FileTier(2)
    tier.put(1, *block(1))

    def child(send):
        try:
            tier.get(1)
        except RuntimeError as error:
            send.send(str(error))
        tier._end()

    receive, send = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(send,))
    process.start()
    assert receive.poll(20) and "belongs to process" in receive.recv()
    process.join(20)
    assert tier.path.exists() and same(tier.get(1), 1)
    tier.close()


@pytest.mark.rows("kind", MAKE)
def test_threads_never_get_anothers_block(kind):
    wrong = []
    with MAKE[kind](3) as tier:

        def work(seed):
            draw = np.random.default_rng(seed)
            for n in draw.integers(0, 8, 40).tolist():
                left = tier.put(n, *block(n))
                wrong.extend(key for key, *kv in left if not same(kv, key))
                other = int(draw.integers(0, 8))
                found = tier.get(other)
                if found is not None and not same(found, other):
                    wrong.append(other)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))
        assert not wrong and len(tier) == 3
        assert all(same(tier.get(key), key) for key in tier.keys)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=60))
@settings(max_examples=30, deadline=None)
def test_a_chain_holds_a_block_once_and_all_that_fits(calls):
    held: dict[int, None] = {}
    with FileTier(3) as file:
        chain = Chain((HostTier(2), file))
        for put, key in calls:
            if put:
                chain.put(key, *block(key))
                held.pop(key, None)
                held[key] = None
                if len(held) > 5:
                    del held[next(iter(held))]
            else:
                assert chain.where(key) in ("host", "file") or key not in held
                found = chain.get(key)
                assert same(found, key) if key in held else found is None
                held.pop(key, None)
            # One list of the oldest, cut in two: exclusive tiers under LRU.
            keys = [key for tier in chain.tiers for key in tier.keys]
            assert sorted(keys) == sorted(held)


def test_chains_without_tiers_and_with_two_of_a_name():
    empty = Chain()
    empty.put(1, *block(1))
    assert empty.get(1) is None and empty.where(1) is None
    with pytest.raises(ValueError, match="a name of its own"):
        Chain((HostTier(1), HostTier(1)))
