"""The turns of vLLM's V1 scheduler, by its own rules, beside the simulator's.

Read in ``vllm/v1/core/sched/scheduler.py`` of vllm-project/vllm at 00024d31 and written
here in our words, for a memory that is never short: a step has so many tokens; those in
the batch come first, in the order in which they came in, each with all that it has not
computed or what is left of the step; then those in line, while there are slots and
tokens.

The two part in two rules. Where memory is short, vLLM gives a prompt the blocks of the
piece that it reads, the simulator those of all of it. Where prompts are not split, vLLM
lets none in that does not fit beside those who decode, the simulator reads one whole.
"""

from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import Row

STEP = 10  # ns of every step


def turns(rows, slots, chunk):
    """When each request is let in, gets its first token and its last one."""
    coming, line, batch = deque(rows), deque(), []
    computed = {row.id: 0 for row in rows}
    made = dict(computed)
    told = {row.id: [None] * 3 for row in rows}
    now = 0
    while coming or line or batch:
        if not line and not batch:
            now = max(now, coming[0].arrival)
        while coming and coming[0].arrival <= now:
            line.append(coming.popleft())
        budget, given_ = chunk, {}

        def give(row, budget=0, given_=given_):
            tokens = min(budget, row.prompt + made[row.id] - computed[row.id])
            if tokens:
                given_[row.id] = tokens
            return budget - tokens

        for row in batch:
            budget = give(row, budget)
        while line and budget and len(batch) < slots:
            row = line.popleft()
            batch.append(row)
            told[row.id][0] = now
            budget = give(row, budget)
        now += STEP
        for row in list(batch):
            computed[row.id] += given_.get(row.id, 0)
            if row.id in given_ and computed[row.id] == row.prompt + made[row.id]:
                made[row.id] += 1
                told[row.id][1] = told[row.id][1] or now
                if made[row.id] == row.new:
                    told[row.id][2] = now
                    batch.remove(row)
    return [tuple(told[row.id]) for row in rows]


@st.composite
def houses(draw):
    """Rows, slots, and tokens of a step, one at least for each slot."""
    rows, at = [], 0
    for number in range(draw(st.integers(1, 20))):
        at += draw(st.sampled_from((0, 0, 3, STEP, 2 * STEP, 7 * STEP)))
        rows.append(Row(number, at, draw(st.integers(1, 60)), draw(st.integers(1, 30))))
    slots = draw(st.integers(1, 6))
    return rows, slots, slots + draw(st.integers(0, 50))


@settings(max_examples=60, deadline=None)
@given(houses())
def test_turns_are_vllms(house):
    rows, slots, chunk = house
    found = simulate(
        None,
        traffic=rows,
        step_time=STEP * 1e-9,
        max_batch=slots,
        chunk=chunk,
        scheduler="chunked",
    )
    seen = [(each.admitted, each.first, each.finished) for each in found.requests]
    assert seen == turns(*house)
