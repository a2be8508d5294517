"""The simulator against the book's engine without a model: the same turns, counted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.engine.dry import DryRun
from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import Row

STEP = 10  # ns of every step


def own_tokens(row: Row) -> list[int]:
    """A prompt whose beginning is its text's, and whose rest nobody else has."""
    text = {None: 1, "a": 2, "b": 3}[row.text]
    common = [text * 1000 + place for place in range(row.shared)]
    own = 100_000 + row.id * 1000
    return common + [own + place for place in range(row.prompt - row.shared)]


def engine(rows, blocks, max_batch, chunk, policy):
    """Times of admission, first and last token, and preemptions, by an engine."""
    run = DryRun(
        blocks=blocks, block_size=16, max_batch=max_batch, chunk=chunk, policy=policy
    )
    now, waiting, submitted = 0, list(rows), []
    first, last = {}, {}
    while waiting or run.busy:
        if not run.busy:
            now = max(now, waiting[0].arrival)
        while waiting and waiting[0].arrival <= now:
            row = waiting.pop(0)
            submitted.append(run.submit(own_tokens(row), most=row.new))
        moved = run.step()
        now += STEP
        for request in moved:
            first.setdefault(request.id, now)
            last[request.id] = now
    counts = run.metrics().counts
    found = [request.cached for request in submitted]
    return first, last, found, counts


@st.composite
def houses(draw):
    """Rows, blocks that hold the longest, slots and tokens of a step."""
    rows, at = [], 0
    for number in range(draw(st.integers(1, 12))):
        at += STEP * draw(st.sampled_from((0, 0, 1, 3, 9)))
        prompt, prefix = draw(st.integers(1, 70)), 0
        if draw(st.booleans()):
            # Whole blocks, all rows of a text alike: nobody knows more than it says.
            prefix = draw(st.sampled_from((("a", 16), ("b", 32))))
            prompt += prefix[1]
        rows.append(Row(number, at, prompt, draw(st.integers(1, 50)), prefix))
    longest = max(-(-(row.prompt + row.new - 1) // 16) for row in rows)
    blocks = longest + draw(st.integers(0, 6))
    max_batch = draw(st.integers(1, 6))
    return rows, blocks, max_batch, max_batch + draw(st.integers(0, 40))


@settings(max_examples=120, deadline=None)
@given(houses(), st.sampled_from((("chunked", "fcfs"), ("static", "static"))))
def test_turns_are_the_engines(house, names):
    rows, blocks, max_batch, chunk = house
    scheduler, policy = names
    first, last, cached, counts = engine(rows, blocks, max_batch, chunk, policy)
    found = simulate(
        None,
        traffic=rows,
        blocks=blocks,
        max_batch=max_batch,
        chunk=chunk,
        scheduler=scheduler,
        step_time=STEP * 1e-9,
    )
    assert {each.id: each.first for each in found.requests} == first
    assert {each.id: each.finished for each in found.requests} == last
    assert [each.found for each in found.requests] == cached
    assert found.outcome.preemptions == counts.preemptions
    assert found.outcome.steps == counts.steps
