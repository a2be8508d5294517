"""Both cores leave what the interpreter leaves; simple programs have closed forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.roofline.host.pipelines import (
    LatencyCore,
    Outcome,
    Predictor,
    ThroughputCore,
    compare,
    run_latency,
    run_throughput,
)
from stacklib.roofline.host.programs import (
    PROGRAMS,
    ProgramError,
    assemble,
    branchy,
    inputs,
    interpret,
    saxpy,
)

FEW = settings(max_examples=25, deadline=None)
small = ThroughputCore(warps=3, lanes=4, load=20)


@FEW
@given(
    st.sampled_from(sorted(PROGRAMS)),
    st.integers(1, 70),
    st.integers(0, 9),
    st.integers(1, 12),
)
def test_both_cores_equal_the_interpreter(name, n, seed, threads):
    program, memory = PROGRAMS[name](n), inputs(n, seed)
    wanted = interpret(program, memory)
    assert run_latency(program, memory).memory == wanted
    assert run_throughput(program, memory, small, threads).memory == wanted
    assert interpret(program, memory, threads) == wanted
    assert memory == inputs(n, seed), "the input is left as it is"


def test_the_programs_do_what_they_say():
    n = 50
    before = inputs(n)
    after = {name: interpret(make(n), before) for name, make in PROGRAMS.items()}
    pairs = zip(before["X"], before["Y"], strict=True)
    assert after["saxpy"]["Y"] == [3 * x + y for x, y in pairs]
    assert after["branches on data"]["Y"] == [
        x + 12 if x % 2 else x - 4 for x in before["X"]
    ]
    assert after["reduction"]["S"] == [sum(before["X"])]
    at = 0
    for _ in range(n):
        at = before["NEXT"][at]
    assert after["pointer chase"]["S"] == [at]


def straight(line: str, times: int) -> list:
    return assemble("\n".join(["add x 0 0", *[line] * times, "halt"]))


@FEW
@given(st.integers(1, 60), st.integers(1, 8))
def test_independent_instructions_fill_the_width(count, width):
    core = LatencyCore(width=width)
    cycles = run_latency(straight("add y tid 1", count), {}, core).cycles
    assert cycles == -(-(count + 1) // width)


@FEW
@given(st.integers(1, 60), st.integers(1, 8), st.integers(1, 32))
def test_a_chain_takes_one_cycle_a_link_whatever_the_width(count, width, window):
    core = LatencyCore(width=width, window=window)
    assert run_latency(straight("add x x 1", count), {}, core).cycles == count + 1


@FEW
@given(st.integers(5, 30), st.integers(100, 500))
def test_a_chase_over_new_lines_pays_every_miss_in_full(loads, miss):
    memory = inputs(8 * 40)
    core, chase = LatencyCore(miss=miss), PROGRAMS["pointer chase"]
    one = run_latency(chase(loads), memory, core).cycles
    two = run_latency(chase(loads + 5), memory, core).cycles
    assert two - one == 5 * miss


@FEW
@given(st.integers(2, 40), st.integers(1, 16))
def test_a_window_overlaps_misses(loads, window):
    """Independent misses: as many at once as the window holds."""
    lines = "\n".join(f"load x X {8 * i}" for i in range(loads))
    core = LatencyCore(width=64, window=window, miss=100)
    cycles = run_latency(assemble(lines + "\nhalt"), inputs(8 * loads), core).cycles
    assert cycles == 100 * -(-loads // window)


@given(st.integers(1, 50))
def test_two_bits_guess_a_loop_wrong_once_at_its_start_and_once_at_its_end(n):
    predictor = Predictor()
    for turn in range(n):
        predictor.guess(0, turn < n - 1)
    assert predictor.misses == (2 if n > 1 else 0)


def test_a_loop_learns_and_a_coin_does_not():
    found = run_latency(branchy(400), inputs(400))
    assert 0.3 * 400 < found.wrong_guesses < 0.7 * 400
    assert run_latency(saxpy(400), inputs(400)).wrong_guesses <= 2


def test_a_wrong_guess_costs_the_refill():
    memory = inputs(200)
    for cost in (0, 10, 20):
        core = LatencyCore(window=1, refill=cost)
        found = run_latency(branchy(200), memory, core)
        none = run_latency(branchy(200), memory, LatencyCore(window=1, refill=0))
        assert found.cycles - none.cycles == cost * found.wrong_guesses


@FEW
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 12))
def test_dependent_instructions_of_enough_warps_fill_every_cycle(count, warps, wait):
    """Each warp may issue once in ``wait`` cycles: Little's law again."""
    core = ThroughputCore(warps=warps, lanes=1, arithmetic=wait)
    found = run_throughput(straight("add x x 1", count), {}, core)
    issued = warps * (count + 1)
    assert found.instructions == issued
    between = max(warps, wait)
    assert found.cycles == between * count + warps - 1 + wait


@FEW
@given(st.integers(1, 64), st.integers(1, 300))
def test_a_coalesced_load_takes_a_slot_a_line(lanes, load):
    core = ThroughputCore(warps=1, lanes=lanes, load=load)
    found = run_throughput(assemble("load x X tid\nhalt"), inputs(64), core)
    assert found.cycles == -(-lanes // 8) - 1 + load


def test_lanes_part_and_meet_again():
    text = "load x X tid\nrem o x 2\nbranch o odd\nsub x x 1\nodd:\nstore Y tid x\nhalt"
    core = ThroughputCore(warps=1, lanes=4)
    for x, share in (([1, 3, 5, 7], 1), ([2, 4, 6, 8], 1), ([1, 2, 3, 4], 18 / 20)):
        found = run_throughput(assemble(text), {"X": x, "Y": [0] * 4}, core)
        assert found.lanes_used == pytest.approx(share)
        assert found.memory["Y"] == [v if v % 2 else v - 1 for v in x]


def test_the_headline_wide_work_for_many_warps_and_a_chain_for_one_thread():
    found = compare(512)
    for name in ("saxpy", "branches on data", "reduction"):
        latency, throughput = found[name]
        assert throughput.cycles < latency.cycles / 5
    latency, throughput = found["pointer chase"]
    assert throughput.cycles > 5 * latency.cycles
    assert found["branches on data"][1].lanes_used < 0.9


@pytest.mark.rows(
    "program", ["load x X 99", "add x nobody 1", "fly a b c", "load x NONE 0"]
)
def test_a_program_that_cannot_run_is_named(program):
    with pytest.raises(ProgramError, match="instruction 0"):
        run_latency(assemble(program + "\nhalt"), {"X": [1]})


def test_other_bad_input_is_named():
    with pytest.raises(ProgramError, match="no place 'nowhere'"):
        assemble("jump nowhere")
    with pytest.raises(ProgramError, match="no halt"):
        run_latency(assemble("on:\njump on"), {})
    with pytest.raises(ValueError, match="window = 0"):
        LatencyCore(window=0)
    with pytest.raises(ValueError, match=r"lanes = 1\.5"):
        ThroughputCore(lanes=1.5)
    with pytest.raises(ValueError, match="threads = 13"):
        run_throughput(saxpy(8), inputs(8), small, 13)
    with pytest.raises(ValueError, match="n = 0"):
        inputs(0)


def test_an_empty_program_takes_no_time():
    nothing = Outcome(0, 0, {})
    assert run_latency([("halt",)], {}) == nothing
    assert run_throughput([("halt",)], {}, small) == nothing
