"""Scratchpads: closed form, plan and execution say the same bytes."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import misses
from stacklib.memory.scratchpad.operations import Op, Program, cyclic_loads
from stacklib.memory.scratchpad.programs import matmul_program, mlp_program
from stacklib.memory.scratchpad.run import PlanError, execute, run_matmul, run_mlp
from stacklib.memory.scratchpad.sbuf import sbuf_case
from stacklib.memory.scratchpad.spilling import POLICIES, allocate

from ...rows import refusals


def loop(blocks, rounds, size=1):
    """Every block read in order, several times round."""
    ops = [Op(f"{r}.{i}", (f"x{i}",)) for r in range(rounds) for i in range(blocks)]
    return Program({f"x{i}": size for i in range(blocks)}, ops)


def reads(trace):
    """A program that reads one unit at a time, all of them once more at the end.

    The last reads keep every unit live, as a cache without live intervals has it.
    """
    names = [f"t{i}" for i in trace]
    ops = [Op(str(at), (name,)) for at, name in enumerate(names)]
    return Program(dict.fromkeys(names, 1), ops)


def test_the_closed_form_of_a_loop_is_exact():
    for blocks, fit, rounds in product(range(1, 9), range(1, 10), range(1, 7)):
        for policy in POLICIES:
            plan = allocate(loop(blocks, rounds), fit, policy)
            assert plan.loaded == cyclic_loads(blocks, fit, rounds, policy)


@given(st.integers(1, 60), st.integers(1, 64), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_large_loops_too_and_never_below_beladys(blocks, fit, rounds):
    loads = [
        allocate(loop(blocks, rounds, 3), 3 * fit, p).loaded // 3 for p in POLICIES
    ]
    assert loads == [cyclic_loads(blocks, fit, rounds, p) for p in POLICIES]
    assert loads[1] == min(loads) >= blocks


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_lru_loads_what_an_lru_cache_misses_until_a_tensor_dies(trace, capacity):
    # A cache does not know what is dead; keep all alive by touching all at the end.
    everything = sorted(set(trace))
    long = trace + everything
    upto = len(trace)
    plan = allocate(reads(long), capacity, "lru")
    loads = sum(m.kind == "load" and m.op < upto for m in plan.moves)
    assert loads == misses(trace, capacity, "lru")


def fewest(trace, capacity):
    """Least loads of any plan that has every operand in the scratchpad: all tried."""
    states = {frozenset(): 0}
    for key in trace:
        found = {}
        for held, loads in states.items():
            if key in held:
                options = [held]
            elif len(held) < capacity:
                options = [held | {key}]
            else:
                options = [held - {gone} | {key} for gone in held]
            cost = loads + (key not in held)
            for option in options:
                found[option] = min(cost, found.get(option, cost))
        states = found
    return min(states.values())


@given(st.lists(st.integers(0, 5), min_size=1, max_size=16), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_belady_is_the_least_of_all_plans(trace, capacity):
    loads = {p: allocate(reads(trace), capacity, p).loaded for p in POLICIES}
    assert loads["belady"] == fewest(trace, capacity)
    assert min(loads.values()) == loads["belady"]


@st.composite
def programs(draw):
    """Tensors of several sizes, read, written and kept as they come."""
    count = draw(st.integers(2, 7))
    sizes = {f"t{i}": draw(st.integers(1, 9)) for i in range(count)}
    names = st.sampled_from(sorted(sizes))
    ops = [
        Op(
            str(at),
            tuple(draw(st.lists(names, max_size=2, unique=True))),
            (draw(names),),
        )
        for at in range(draw(st.integers(1, 14)))
    ]
    used = sorted({name for op in ops for name in op.operands})
    kept = draw(st.lists(st.sampled_from(used), unique=True))
    return Program(sizes, ops, frozenset(kept))


def widths(program):
    return max(sum(program.sizes[n] for n in op.operands) for op in program.ops)


@given(programs(), st.integers(0, 25), st.sampled_from(POLICIES))
@settings(max_examples=200, deadline=None)
def test_any_plan_runs_and_gives_what_unlimited_room_gives(program, more, policy):
    capacity = widths(program) + more
    arrays = {n: np.zeros(s, np.uint8) for n, s in program.sizes.items()}
    for i, name in enumerate(sorted(arrays)):
        arrays[name][...] = 17 * i + 1

    def mixing(op):
        def kernel(*operands):
            views = dict(zip(op.operands, operands, strict=True))
            total = sum(int(views[n].sum()) for n in op.reads) + 3 * int(op.name) + 1
            for name in op.writes:
                views[name][...] = (total + np.arange(len(views[name]))) % 251

        return kernel

    kernels = [mixing(op) for op in program.ops]
    results = []
    for room in (capacity, sum(program.sizes.values())):
        plan = allocate(program, room, policy)
        done = execute(program, plan, room, arrays, kernels)
        assert (done.loaded, done.stored) == (plan.loaded, plan.stored)
        assert plan.peak <= room
        assert plan.spilled >= 0
        results.append({n: done.memory[n].tolist() for n in program.outputs})
    assert results[0] == results[1]
    assert allocate(program, sum(program.sizes.values()), policy).spilled == 0


def test_nothing_is_spilled_while_the_working_set_fits():
    program = mlp_program(32, 16, 64, block=16)
    assert program.working_set == max(program.live)
    assert allocate(program, program.working_set, "lru").spilled == 0
    assert allocate(program, program.working_set - 1, "lru").spilled > 0


def test_a_written_block_is_copied_out_only_when_it_is_needed_again():
    ops = [Op("make", (), ("a",)), Op("make too", (), ("b",)), Op("use", ("a",))]
    plan = allocate(Program({"a": 4, "b": 4}, ops), 4, "lru")
    assert [m.kind for m in plan.moves] == [
        "place",
        "store",
        "drop",
        "place",
        "drop",
        "load",
        "drop",
    ]
    assert (plan.loaded, plan.stored, plan.compulsory) == (4, 4, 0)


def test_first_fit_leaves_holes_and_fills_them():
    # b leaves a hole of 4 between a and c that d does not fit: c or a must go.
    ops = [Op("1", ("a", "b", "c")), Op("2", ("d", "a")), Op("3", ("a", "c"))]
    program = Program({"a": 4, "b": 4, "c": 4, "d": 6}, ops)
    plan = allocate(program, 14, "belady")
    assert program.live == [12, 14, 8]
    assert plan.spilled == 4  # though 14 bytes are there and 14 are live


@pytest.mark.rows("policy", POLICIES)
@pytest.mark.rows("snake", [False, True])
@pytest.mark.rows("share", [1.0, 0.99, 0.6, 0.2])
def test_a_product_through_a_scratchpad(policy, snake, share):
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((24, 64)), rng.standard_normal((64, 40))
    capacity = int(x.nbytes * share)
    cut = {"block_k": 8, "panel_n": 8, "snake": snake}
    y, done = run_matmul(x, w, capacity, policy=policy, **cut)
    np.testing.assert_allclose(y, x @ w)
    assert (done.loaded, done.stored) == (done.plan.loaded, 0)
    assert done.streamed == w.nbytes + y.nbytes
    if not snake:
        blocks = cyclic_loads(8, int(8 * share), 5, policy)
        assert done.loaded == blocks * x.nbytes // 8


def test_turning_round_makes_all_policies_as_good_as_belady():
    cut = {"block_k": 1, "panel_n": 1, "width": 1, "snake": True}
    for blocks, fit, rounds in product(range(1, 8), range(1, 9), range(1, 6)):
        program = matmul_program(1, rounds, blocks, **cut)
        for policy in POLICIES:
            loads = cyclic_loads(blocks, fit, rounds, policy, snake=True)
            assert allocate(program, fit, policy).loaded == loads


@pytest.mark.rows("policy", POLICIES)
@pytest.mark.rows("snake", [False, True])
def test_a_hidden_layer_that_is_written_back(policy, snake):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((16, 8))
    up, down = rng.standard_normal((8, 48)), rng.standard_normal((48, 8))
    right = np.maximum(x @ up, 0) @ down
    spilled = []
    for capacity in (16 * 8 * (8 * 2 + 48), 16 * 8 * 30, 16 * 8 * 20):
        y, done = run_mlp(x, up, down, capacity, block=4, policy=policy, snake=snake)
        np.testing.assert_allclose(y, right)
        assert (done.loaded, done.stored) == (done.plan.loaded, done.plan.stored)
        spilled.append(done.plan.spilled)
    assert 0 == spilled[0] < spilled[1] < spilled[2]


def test_the_published_workload_has_its_cliff():
    mib, case = 2**20, sbuf_case()
    assert case.blocks * case.block_bytes(0.5) == case.tokens(0.5) * 8192 * 2
    for tokens, over in ((1664, False), (1760, True)):
        cut = {"block_k": 128, "panel_n": 256}
        program = matmul_program(tokens, 8192, 8192, **cut)
        x = tokens * 8192 * 2
        lru, best = (allocate(program, 27 * mib, p).moved for p in ("lru", "belady"))
        assert lru / x == (pytest.approx(31.05, abs=0.1) if over else 1)
        assert best / x < 2.0


# -- faults that must be caught -----------------------------------------------------


def planned():
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((4, 16)), rng.standard_normal((16, 8))
    program = matmul_program(4, 8, 16, block_k=4, panel_n=4, width=8)
    arrays = {f"x{i}": x[:, 4 * i : 4 * i + 4] for i in range(4)}
    arrays |= {
        f"w{i}.{j}": w[4 * i : 4 * i + 4, 4 * j : 4 * j + 4]
        for i in range(4)
        for j in range(2)
    }
    arrays |= {f"y{j}": np.empty((4, 4)) for j in range(2)}
    plan = allocate(program, 3 * 128, "lru")
    kernels = [lambda *_: None] * len(program.ops)
    return program, plan, arrays, kernels


@pytest.mark.rows(
    ("fault", "message"),
    [
        ("a load is forgotten", "is not in the scratchpad|not at"),
        ("a drop is forgotten", "would lie over"),
        ("an offset is wrong", "would lie over|beyond the buffer|not at"),
        ("a store from nowhere", "store of 'x0'"),
    ],
)
def test_a_faulty_plan_is_refused(fault, message):
    program, plan, arrays, kernels = planned()
    moves = list(plan.moves)
    first = {
        kind: next(i for i, m in enumerate(moves) if m.kind == kind)
        for kind in ("load", "drop")
    }
    if fault == "a load is forgotten":
        del moves[first["load"]]
    elif fault == "a drop is forgotten":
        del moves[first["drop"]]
    elif fault == "an offset is wrong":
        moves[1] = replace(moves[1], offset=64)
    else:
        moves.insert(0, replace(moves[0], kind="store"))
    with pytest.raises(PlanError, match=message):
        execute(program, replace(plan, moves=tuple(moves)), 3 * 128, arrays, kernels)


def test_a_forgotten_store_is_seen():
    ops = [Op("0", (), ("a",)), Op("1", (), ("b",)), Op("2", ("a",))]
    program = Program({"a": 4, "b": 4}, ops)
    plan = allocate(program, 4)
    moves = tuple(m for m in plan.moves if m.kind != "store")
    arrays = {"a": np.zeros(4, np.uint8), "b": np.zeros(4, np.uint8)}
    with pytest.raises(PlanError, match="memory does not have"):
        execute(program, replace(plan, moves=moves), 4, arrays, [lambda *_: None] * 3)


test_bad_input_is_refused = refusals(
    (lambda: Program({}, []), "no operations"),
    (lambda: Program({"a": 0}, [Op("0", ("a",))]), "size of 'a' is 0"),
    (lambda: Program({"a": True}, [Op("0", ("a",))]), "size of 'a' is True"),
    (lambda: Program({}, [Op("0", ("a",))]), "size of 'a' is None"),
    (
        lambda: Program({"a": 1}, [Op("0", ("a",))], frozenset("z")),
        "'z' is used by no",
    ),
    (
        lambda: Program({"a": 1}, [Op("0", ("a",))] * 2, frozenset(), frozenset("a")),
        "streamed and used more",
    ),
    (lambda: allocate(loop(2, 1), 0), "capacity = 0"),
    (lambda: allocate(loop(2, 1), 2, "fifo"), "policy 'fifo'"),
    (
        lambda: allocate(Program({"a": 3, "b": 4}, [Op("add", ("a", "b"))]), 6),
        "'add' needs 7 bytes at once, 6 are",
    ),
    (lambda: cyclic_loads(0, 1, 1, "lru"), "blocks = 0"),
    (lambda: cyclic_loads(1, 1, 1, "clock"), "policy 'clock'"),
    (lambda: matmul_program(4, 4, 10, block_k=4, panel_n=4), "4 do not divide 10"),
    (lambda: mlp_program(0, 4, 8, block=4), "rows = 0"),
)
