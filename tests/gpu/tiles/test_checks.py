"""What a program may not do, and what the message says."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import KernelError
from stacklib.gpu import tiles as tl
from stacklib.gpu.tiles import launcher


def run(program, grid=1, *args, **words):
    return gpu.launch_tiles(program, grid, *args, **words)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def copy(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=7.0))


def test_a_mask_keeps_lanes_from_memory():
    out = run(copy, 1, zeros(5), gpu.empty(8), 5, BLOCK=8).results["out"]
    assert out.tolist() == [0.0] * 5 + [7.0] * 3


def test_before_the_first_element():
    def before(x, out):
        at = tl.arange(0, 8) - 3
        tl.store(out + tl.arange(0, 8), tl.load(x + at))

    with pytest.raises(KernelError, match=r"x\[-3\] is outside its 8 elements"):
        run(before, 1, zeros(8), gpu.empty(8))


def test_reads_of_what_nobody_wrote():
    with pytest.raises(KernelError, match=r"tl.load: x\[0\] is read, and nob"):
        run(copy, 1, gpu.empty(8), gpu.empty(8), 8, BLOCK=8)


def test_two_programs_that_store_one_element():
    def both(out, BLOCK: tl.constexpr):
        pid = tl.program_id(0)
        tl.store(out + pid * 4 + tl.arange(0, BLOCK), pid)

    with pytest.raises(KernelError, match=r"out\[4\] is (stored|written).*program 1"):
        run(both, 2, gpu.empty(16, np.int32), BLOCK=8)
    assert run(both, 2, gpu.empty(16, np.int32), BLOCK=4)


def test_a_plain_read_of_what_another_program_stores():
    def next_one(x):
        pid = tl.program_id(0)
        tl.store(x + pid, tl.load(x + pid + 1))

    with pytest.raises(KernelError, match="nothing orders programs"):
        run(next_one, 4, zeros(5))
    with pytest.raises(KernelError, match="nothing orders programs"):
        run(next_one, 100, zeros(101))


def test_a_plain_store_beside_atomics():
    def mixed(x):
        if tl.program_id(0) == 0:
            tl.store(x, 1.0)
        else:
            tl.atomic_add(x, 1.0)

    with pytest.raises(KernelError, match=r"x\[0\].*nothing orders programs"):
        run(mixed, 3, zeros(1))


def test_a_flag_orders_unless_it_is_relaxed():
    def last(parts, counter, out, SEM: tl.constexpr):
        pid = tl.program_id(0)
        tl.store(parts + pid, pid + 1)
        if tl.atomic_add(counter, 1, sem=SEM) == 3:
            tl.store(out, tl.sum(tl.load(parts + tl.arange(0, 4)), 0))

    args = (gpu.empty(4, np.int32), zeros(1, dtype=np.int32), gpu.empty(1, np.int32))
    assert run(last, 4, *args, SEM="acq_rel").results["out"] == [10]
    with pytest.raises(KernelError, match="nothing orders programs"):
        run(last, 4, *args, SEM="relaxed")


def test_one_store_twice_to_an_element():
    def twice(out):
        at = tl.arange(0, 8)
        tl.store(out + at // 2, at)

    with pytest.raises(KernelError, match=r"out\[0\] is stored twice by one tl.store"):
        run(twice, 1, gpu.empty(4, np.int32))


def test_a_program_that_waits_for_nobody():
    def waits(flag):
        while tl.atomic_add(flag, 0) == 0:
            pass

    with pytest.raises(KernelError, match="waits at address 256"):
        run(waits, 1, zeros(1, dtype=np.int32))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tl.arange(0, 12)", "12 is no power of two; take 16"),
        ("tl.arange(0, n)", "known only while the program runs"),
        ("tl.zeros([6], tl.float32)", "no power of two"),
        ("tl.zeros([0], tl.float32)", "0 is no power of two; take 1"),
        ("tl.arange(0, 8) + tl.arange(0, 16)", "do not fit: axis 0 differs"),
        ("tl.arange(0, 8)[0]", "only `:` and None"),
        ("tl.load(x + tl.arange(0, 8), other=0.0)", "`other` and no mask"),
        ("tl.load(n)", "a pointer is needed"),
        ("tl.load(x + 0.5)", "whole numbers are needed"),
        ("tl.arrange(0, 8)", "did you mean: arange"),
        ("tl.dot_scaled(x)", "left out here"),
        ("tl.make_block_ptr(n, (8,), (1,), (0,), (8,), (0,))", "a pointer is needed"),
        ("tl.make_block_ptr(x, (8,), (1,), (0,), (6,), (0,))", "no power of two"),
        ("tl.make_block_ptr(x, (8, 8), (8, 1), (0,), (8, 8), (1, 0))", "1 offsets"),
        ("tl.make_block_ptr(x, (8,), (1,), (0,), (8,), (1,))", "axes .0., each once"),
        ("tl.load(tl.make_block_ptr(x, (4,), (1,), (-2,), (8,), (0,)))", "outside its"),
        (
            "tl.load(tl.make_block_ptr(x, (4,), (1,), (0,), (8,), (0,)), mask=n > 0)",
            "boundary_check in place of a mask",
        ),
        (
            "tl.load(tl.make_block_ptr(x, (4,), (1,), (0,), (8,), (0,)), "
            "boundary_check=1)",
            "axes of a tile of 1",
        ),
        (
            "tl.load(tl.make_block_ptr(x, (4,), (1,), (0,), (8,), (0,)), "
            "padding_option='one')",
            "'one': one of zero, nan",
        ),
        ("tl.advance(x, (8,))", "tl.make_block_ptr makes what it moves"),
        ("tl.make_tensor_descriptor(x, [4, 4], [4, 1], [4, 2])", "16 at least"),
        ("tl.make_tensor_descriptor(x, [4, 4], [1, 4], [4, 4])", "is 4, not 1"),
        ("tl.make_tensor_descriptor(x + 1, [3, 4], [4, 1], [4, 4])", "16 bytes"),
        ("tl.make_tensor_descriptor(x, [4, 5], [5, 1], [4, 4])", "a stride is no"),
        ("tl.exp(n)", "fp32 or fp64 is needed"),
        ("x * 2", "the product of a pointer"),
        ("n & 1.5", "whole numbers are needed"),
        ("1 < n < 3", r"compares twice; Triton wants"),
        ("bool(tl.arange(0, 8) > 2)", "a condition takes one value"),
        ("n + 2 ** 31", "which ends at 2147483647"),
        ("(n + 2147483647) // 1", "would wrap round"),
        ("n // (n - n)", "a whole number // 0"),
        ("tl.dot(tl.zeros([16, 8], tl.float16), tl.zeros([8, 16], tl.float16))", "16"),
        ("tl.dot(tl.zeros([16, 16], tl.int16), tl.zeros([16, 16], tl.int16))", "int16"),
        ("tl.static_assert(1 == 2, 'no')", "static_assert fails: no"),
        ("tl.device_assert(n > 9, 'few')", "device_assert fails: few"),
        ("undefined + n", "name 'undefined' is not defined"),
        ("tl.atomic_add(x + tl.arange(0, 8), 1, sem='soon')", "'soon': one of acquire"),
        ("tl.load(x, cache_modifier='.xx')", "'.xx': one of .ca"),
        ("tl.zeros([2048, 1024], tl.int8)", "at most 1,048,576"),
        ("tl.trans(tl.arange(0, 8))", "two axes are needed"),
        ("tl.program_id(3)", "axes are 0, 1 and 2"),
        ("tl.max(n)", "a tile with an axis is needed"),
        ("tl.zeros([8], tl.float32).to(tl.int16, bitcast=True)", "a bitcast keeps"),
    ],
)
def test_what_is_refused(tmp_path, text, says):
    import importlib.util

    path = tmp_path / "wrong.py"
    source = "from stacklib.gpu import tiles as tl\n\n\ndef wrong(x, n):\n    v = "
    path.write_text(f"{source}{text}\n")
    spec = importlib.util.spec_from_file_location("wrong", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises((KernelError, TypeError), match=says) as error:
        run(module.wrong, 1, zeros(8), 5)
    assert "wrong, line 5" in str(error.value)


def test_nan_is_data():
    out = run(copy, 1, np.full(8, np.nan, np.float32), gpu.empty(8), 8, BLOCK=8)
    assert np.isnan(out.results["out"]).all()


def before(x, out, N: tl.constexpr):
    at = tl.make_block_ptr(x, (N,), (1,), (-N,), (N,), (0,))
    at = tl.advance(at, (N // 2,))
    tile = tl.load(at, boundary_check=(0,), padding_option="nan")
    tl.store(out + tl.arange(0, N), tile)


def test_what_a_block_pointer_finds_outside():
    out = run(before, 1, np.arange(8, dtype=np.float32), gpu.empty(8), N=8)
    assert np.isnan(out.results["out"][:4]).all()
    assert (out.results["out"][4:] == np.arange(4)).all()


def square(x, out, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tl.load(x + at)
    tl.store(out + at, tl.dot(tile, tile, out_dtype=tl.float32))


def test_shared_memory_that_no_unit_has():
    x = zeros(256, 256, dtype=np.float16)
    with pytest.raises(ValueError, match="131,072 B of shared memory > 101,376 B"):
        run(square, 1, x, gpu.empty((256, 256)), device="rtx-4090", N=256)


def test_registers_that_no_thread_has_are_said_and_no_time_is():
    x = zeros(128, 128, dtype=np.float16)
    ran = run(square, 1, x, gpu.empty((128, 128)), num_warps=1, N=128)
    assert "registers a thread > 255" in ran.report.infeasible
    assert not ran.report.occupancy.blocks


HALVES = zeros(8, dtype=np.float16)


@pytest.mark.rows(
    ("change", "says"),
    [
        ({"grid": 0}, "grid = 0"),
        ({"grid": (1, 2, 3, 4)}, "grid ="),
        ({"grid": (1, 70000)}, "65,535|65535"),
        ({"num_warps": 3}, "num_warps = 3: a power of two"),
        ({"num_stages": 0}, "num_stages = 0"),
        ({"device": "h1000"}, "did you mean|h1000"),
        ({"args": (zeros(8),)}, "missing a required argument"),
        ({"args": (zeros(8, dtype="f4,i2")["f0"], zeros(8), 4)}, "parts of elements"),
        ({"args": (HALVES, HALVES.view(np.float32), 4)}, "as fp16 and fp32: give a"),
        ({"args": (np.zeros(0, np.float32), zeros(8), 4)}, "no elements"),
        ({"args": (zeros(8, dtype=complex), zeros(8), 4)}, "complex128"),
        ({"program": 5}, "program = 5: a Python function"),
    ],
)
def test_launches_that_make_no_sense(change, says):
    good = {"program": copy, "grid": 1, "args": (zeros(8), gpu.empty(8), 8)}
    given = {**good, **change}
    program, grid, args = (given.pop(k) for k in ("program", "grid", "args"))
    with pytest.raises((ValueError, TypeError, LookupError), match=says):
        run(program, grid, *args, BLOCK=8, **given)


def test_a_long_launch_says_so_and_how_to_sample(monkeypatch):
    monkeypatch.setattr(launcher, "LONG", 0)
    with pytest.warns(
        UserWarning, match=r"copy: 9 programs would .* smaller grid is a"
    ):
        run(copy, 9, zeros(72), gpu.empty(72), 72, BLOCK=8)
