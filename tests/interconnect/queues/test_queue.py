"""A queue: posted, run against a list, explored whole, and between processes."""

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.queues import ring as r
from stacklib.interconnect.queues.explore import Plan, explore, program, replay
from stacklib.interconnect.queues.queue import LANES, Queue
from stacklib.interconnect.queues.shared import check_sent, run_shared
from stacklib.interconnect.queues.wqe import read_wqe

from ...rows import refusals


def messages(count, first=0):
    return [(first + k, 1, first + k, 2, 7392) for k in range(count)]


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(1, LANES), st.booleans(), st.booleans())),
    st.sampled_from([32, 64, 128]),
    st.sampled_from([0, 65_500, 65_535]),
)
def test_whatever_is_posted_is_sent_once_in_order(posts, slots, start):
    queue, posted, sent = Queue(slots, start=start), 0, []
    for count, together, drain in posts:
        if drain or not queue.ring.has_room(queue.ring.reserved, count):
            sent += queue.send()
        assert queue.post(messages(count, posted), together) == start + posted
        posted += count
    sent += queue.send()
    entries = [read_wqe(wqe) for wqe in sent]
    assert [entry.remote_address for entry in entries] == list(range(posted))
    assert [e.index for e in entries] == [(start + k) % 65_536 for k in range(posted)]
    assert queue.faults() == []


def test_lane_0_reserves_for_all():
    one, each = Queue(64), Queue(64)
    one.post(messages(LANES))
    each.post(messages(LANES), together=False)
    assert (one.atomics, one.doorbells) == (1, 1)
    assert (each.atomics, each.doorbells) == (LANES, LANES)
    assert one.send() == each.send()


def test_a_queue_that_is_full_says_so():
    queue = Queue(32)
    queue.post(messages(30))
    with pytest.raises(ValueError, match="4 messages and 2 slots free"):
        queue.post(messages(4))
    queue.send()
    queue.post(messages(4))
    assert queue.faults() == []


def test_planted_faults_are_named():
    queue = Queue(4)
    queue.ring_bell(1)
    assert queue.faults() == ["entry 0 is rung before it is written"]

    queue = Queue(2)
    for index in range(2):
        queue.reserve()
        queue.write(index, b"")
    queue.reserve()
    queue.write(2, b"")
    assert queue.faults() == ["entry 0 is overwritten by entry 2 before it was sent"]

    queue = Queue(4)
    queue.write(0, b"")
    queue.write(0, b"")
    assert queue.faults() == [
        "entry 0 is written and was not reserved",
        "entry 0 is written twice",
    ]

    queue = Queue(4)
    queue.reserve(2)
    queue.publish(1, 1)
    assert queue.faults() == ["entry 0 is passed over: 1 is said to be ready"]

    queue = Queue(4)
    queue.post(messages(3))
    queue.ring_bell(1)
    assert queue.faults() == ["the doorbell goes back from 3 to 1"]

    queue = Queue(4)
    good = Queue(4, start=1)
    good.post(messages(1))
    queue.reserve()
    queue.write(0, good.send()[0])
    queue.ring_bell(1)
    queue.send()
    assert queue.faults() == ["entry 0 bears the index 1"]
    assert r.send(r.empty(2))[1] == "entry 0 is read before the doorbell rang for it"


CASES = [(2, 1, 1, 1), (2, 2, 1, 2), (2, 2, 2, 2), (2, 2, 2, 4), (2, 3, 2, 4)]


@pytest.mark.rows("case", [*CASES, (2, 3, 1, 2), (3, 1, 2, 4)])
def test_no_interleaving_loses_an_entry(case):
    found = explore(*case)
    assert found.faults == {} and found.interleavings > 0


def _walk(people, counters, slots, batch):
    """Ways to the end, one by one: nothing remembered or shared with the search."""
    reserved, ready, rung, sent = counters
    ways, moved = 0, False
    if sent < rung:
        moved = True
        ways += _walk(people, (reserved, ready, rung, sent + 1), slots, batch)
    for who, (steps, base) in enumerate(people):
        if not steps:
            continue
        own, after = base, counters
        if steps[0] == "reserve":
            own, after = reserved, (reserved + batch, ready, rung, sent)
        elif steps[0] == "room" and base + batch > sent + slots:
            continue
        elif steps[0] == "publish":
            if ready != base:
                continue
            after = (reserved, base + batch, rung, sent)
        elif steps[0] == "ring":
            after = (reserved, ready, max(rung, base + batch), sent)
        moved = True
        others = (*people[:who], (steps[1:], own), *people[who + 1 :])
        ways += _walk(others, after, slots, batch)
    return ways if moved else 1


@pytest.mark.rows(("posts", "batch", "slots"), [(1, 1, 1), (1, 2, 2), (2, 2, 2)])
def test_ways_are_as_many_as_walked_one_by_one(posts, batch, slots):
    people = ((program(batch, Plan()) * posts, 0),) * 2
    ways = _walk(people, (0, 0, 0, 0), slots, batch)
    assert explore(2, posts, batch, slots).interleavings == ways


PLANTED = {
    "atomic": "entry 0 is written twice",
    "room": "entry 0 is overwritten by entry 4 before it was sent",
    "written_first": "entry 0 is rung before it is written",
    "in_turn": "entry 0 is rung before it is written",
    "forward": "the doorbell goes back from 4 to 2",
}


@pytest.mark.rows("field", fields(Plan))
def test_every_part_of_the_protocol_is_needed(field):
    found = explore(2, 2, 2, 4, Plan(**{field.name: False}))
    first, way = next(iter(found.faults.items()))
    assert first == PLANTED[field.name]
    assert len(way) == min(len(w) for w in found.faults.values())
    assert len({step[0] for step in way} - {"p"}) <= 2


@pytest.mark.rows("field", fields(Plan))
def test_the_shortest_way_to_a_fault_can_be_gone(field):
    plan = Plan(**{field.name: False})
    fault, way = next(iter(explore(2, 2, 2, 4, plan).faults.items()))
    moves = replay([step.split(":")[0] for step in way], 2, 2, 2, 4, plan)
    assert [f"{move.who}: {move.name}" for move in moves] == list(way)
    assert [move.fault for move in moves] == [""] * (len(way) - 1) + [fault]


def test_a_way_that_somebody_chose():
    moves = replay(["0"] * 9 + ["1", "port", "port", "port"])
    assert [m.name for m in moves[:6]] == [*program(2, Plan())]
    assert [m.name for m in moves[6:]] == ["reserve", "send", "send", "waits"]
    assert moves[-1].ring[1:] == (4, 2, 2, 2)
    with pytest.raises(ValueError, match="'2' steps"):
        replay(["2"])


def test_a_ring_too_small_for_a_batch_is_refused():
    with pytest.raises(ValueError, match="slots = 1 hold no batch of 2"):
        explore(2, 1, 2, 1)
    with pytest.raises(ValueError, match="producers = 0"):
        explore(0)


def test_real_processes_lose_nothing():
    run = run_shared(2, entries=1500, slots=32)
    assert run.faults == () and len(run.sent) == 3000
    assert {who for who, _ in run.sent} == {0, 1}
    assert run.doorbells <= 3000 // 4


def test_real_processes_with_the_doorbell_first_are_found_out():
    run = run_shared(2, entries=64, slots=32, bell_first=True)
    assert len(run.faults) >= 64 and "before it is written" in run.faults[0]


def test_a_producer_that_dies_is_named_and_no_process_is_left():
    from multiprocessing import active_children

    before = active_children()  # of other tests
    with pytest.raises(RuntimeError, match="producer 1 died"):
        run_shared(2, entries=400, slots=32, dies_at=40)
    assert set(active_children()) <= set(before)


def test_time_that_is_up_is_said():
    with pytest.raises(TimeoutError, match="0 of 8 entries"):
        run_shared(2, entries=4, limit_s=1e-9)


def test_the_checker_of_what_was_sent():
    assert check_sent([(0, 0), (1, 0), (0, 1)]) == []
    assert check_sent([(0, 0), (0, 2)]) == ["producer 0 sent 2 where 1 was next"]
    assert check_sent([(0, 0), (0, 0)]) == ["producer 0 sent 0 where 1 was next"]


test_bad_input_is_refused = refusals(
    (lambda: Queue(3), "a power of two"),
    (lambda: Queue(0), "slots = 0"),
    (lambda: Queue(1 << 17), "a power of two"),
    (lambda: Queue(4, start=-1), "start = -1"),
    (lambda: Queue(64).post([]), "0 messages"),
    (lambda: Queue(64).post(messages(33)), "33 messages"),
    (lambda: Queue(64).reserve(0), "count = 0"),
    (lambda: run_shared(entries=5), "multiples of batch"),
    (lambda: run_shared(slots=24), "power of two"),
)
