"""The turns of vLLM's V1 scheduler and of BLIS, by their rules, beside the simulator's.

Read in ``vllm/v1/core/sched/scheduler.py`` of vllm-project/vllm at 00024d31 and in
``sim/batch_formation.go`` of inference-sim/inference-sim at 0de1e44b, which says the
same, and written here in our words: a step has so many tokens; those in the batch come
first, in the order in which they came in, each with all that it has not computed or
what is left of the step. Who finds no block for its tokens takes the place of the last
of the batch, until there are some; that one goes to the head of the line and reads
again, and nobody is let in by such a step. Else those in line are, while there are
slots, tokens and blocks.

They part in two rules. Where memory is short, vLLM and BLIS give a prompt the blocks of
the piece that it reads, the simulator those of all of it: houses are short of tokens or
of blocks here. Where prompts are not split, vLLM lets none in that does not fit beside
those who decode, the simulator reads one whole.
"""

from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import Row

STEP, SIZE = 10, 16  # ns of every step, tokens of a block


def turns(rows, slots, chunk, blocks):
    """When each is let in, gets its first and last token; places lost."""
    coming, line, batch = deque(rows), deque(), []
    computed = {row.id: 0 for row in rows}
    made, lost = dict(computed), dict(computed)
    told = {row.id: [None] * 3 for row in rows}
    now = 0
    while coming or line or batch:
        if not line and not batch:
            now = max(now, coming[0].arrival)
        while coming and coming[0].arrival <= now:
            line.append(coming.popleft())
        budget, given_, squeezed = chunk, {}, False

        def wanted(row):
            return row.prompt + made[row.id] - computed[row.id]

        def free():
            return blocks - sum(-(-n // SIZE) for n in computed.values())

        def give(row, tokens, given_=given_):
            have = -(-computed[row.id] // SIZE)
            if -(-(computed[row.id] + tokens) // SIZE) - have > free():
                return False
            computed[row.id] += tokens
            given_[row.id] = tokens
            return True

        place = 0
        while place < len(batch):
            row = batch[place]
            tokens = min(budget, wanted(row))
            while row in batch and not give(row, tokens):
                squeezed = True
                last = batch.pop()
                line.appendleft(last)
                computed[last.id] = 0
                lost[last.id] += 1
            if row in batch:
                budget -= tokens
                place += 1
        while line and budget and len(batch) < slots and not squeezed:
            tokens = min(budget, wanted(line[0]))
            if not give(line[0], tokens):
                break
            row = line.popleft()
            batch.append(row)
            if not lost[row.id]:
                told[row.id][0] = now
            budget -= tokens
        now += STEP
        for row in list(batch):
            if given_.get(row.id) and not wanted(row):
                made[row.id] += 1
                told[row.id][1] = told[row.id][1] or now
                if made[row.id] == row.new:
                    told[row.id][2] = now
                    computed[row.id] = 0
                    batch.remove(row)
    return [(*told[row.id], lost[row.id]) for row in rows]


@st.composite
def houses(draw):
    """Rows, slots, tokens of a step, one at least for each slot, and blocks."""
    rows, at = [], 0
    for number in range(draw(st.integers(1, 20))):
        at += draw(st.sampled_from((0, 0, 3, STEP, 2 * STEP, 7 * STEP)))
        rows.append(Row(number, at, draw(st.integers(1, 60)), draw(st.integers(1, 30))))
    slots = draw(st.integers(1, 6))
    if draw(st.booleans()):
        return rows, slots, slots + draw(st.integers(0, 50)), 1000
    longest = max(-(-(row.prompt + row.new) // SIZE) for row in rows)
    return rows, slots, 90 * len(rows), longest + draw(st.integers(0, 4))


@settings(max_examples=60, deadline=None)
@given(houses())
def test_turns_are_those_of_vllm_and_blis(house):
    rows, slots, chunk, blocks = house
    found = simulate(
        None,
        traffic=rows,
        step_time=STEP * 1e-9,
        max_batch=slots,
        chunk=chunk,
        blocks=blocks,
        scheduler="chunked",
    )
    seen = [
        (each.admitted, each.first, each.finished, each.preempted)
        for each in found.requests
    ]
    assert seen == turns(*house)
