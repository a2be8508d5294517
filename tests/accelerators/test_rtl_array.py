"""The array in Amaranth, cycle by cycle; in Icarus and through Yosys where they are."""

import gc
import random

import pytest

pytest.importorskip("amaranth", reason="Amaranth: not run (extra hdl not installed)")

from stacklib.accelerators.rtl import icarus, tools
from stacklib.accelerators.rtl.array_amaranth import Array
from stacklib.accelerators.rtl.feed import by_formula, first_difference
from stacklib.accelerators.rtl.gates import by_gates
from stacklib.accelerators.rtl.mac_amaranth import Mac
from stacklib.accelerators.rtl.products_amaranth import (
    ByteSplit,
    Chosen,
    Product,
    Sum,
    Wired,
)
from stacklib.accelerators.rtl.run_amaranth import by_amaranth, rtlil
from stacklib.accelerators.rtl.serial_amaranth import SerialArray
from stacklib.accelerators.rtl.stepped import by_steps

DEPTH = 4


def drawn(size: int, count: int) -> list:
    """Random products, whole operands and extreme ones."""
    pick = random.Random(size)

    def matrix(rows: int, cols: int) -> list[list[int]]:
        edges = [-128, 127]
        return [
            [
                pick.choice(edges) if pick.random() < 0.1 else pick.randint(-128, 127)
                for _ in range(cols)
            ]
            for _ in range(rows)
        ]

    return [(matrix(size, DEPTH), matrix(DEPTH, size)) for _ in range(count)]


@pytest.mark.parametrize(("size", "count"), [(2, 800), (4, 200)])
def test_amaranth_agrees_with_the_stepped_array_in_every_cycle(
    size: int, count: int
) -> None:
    pairs = drawn(size, count)
    for (a, b), cycles in zip(pairs, by_amaranth(pairs, size, size), strict=True):
        assert first_difference(by_steps(a, b), cycles) is None


def test_other_widths_agree_too() -> None:
    a, b = [[-8, 7], [3, -1]], [[5, -8, 2], [7, 7, -6]]
    (cycles,) = by_amaranth([(a, b)], 2, 3, bits=4, accumulator=9)
    assert first_difference(by_formula(a, b, 4), cycles) is None
    with pytest.raises(ValueError, match="from -8 to 7"):
        by_amaranth([([[8]], [[1]])], 1, 1, bits=4)


def test_a_product_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="not a product of 2 x 2"):
        by_amaranth([([[1]], [[1]])], 2, 2)


REFUSED = [
    (lambda: Mac(0), "bits = 0"),
    (lambda: Mac(8, 15), "accumulator = 15"),
    (lambda: Array(0, 2), "rows = 0"),
    (lambda: Array(2, True), "cols = True"),
    (lambda: Product(2.5), "bits = 2.5"),
    (lambda: ByteSplit(15), "two halves need an even number"),
    (lambda: Wired([]), "rows of one length"),
    (lambda: Wired([[1], [1, 2]]), "rows of one length"),
    (lambda: Wired([[0.5]]), "weight 0.5"),
    (lambda: Sum(0), "bits = 0"),
    (lambda: Chosen([]), r"codes = \[\]: one to sixteen"),
    (lambda: Chosen([1.5]), r"codes = \[1.5\]"),
]


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_hardware_that_is_none_is_refused() -> None:
    for make, why in REFUSED:
        with pytest.raises(ValueError, match=why):
            make()
    assert "src" not in rtlil(Mac(2, 4))  # where its lines stand differs by machine
    gc.collect()  # while their warning that nobody used them is not heard


def simulated(component, drive, clocked: bool = True) -> None:
    """Run a component with a process of its own."""
    from amaranth.sim import Simulator

    simulator = Simulator(component)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()


def test_the_serial_shell_gives_the_bits_of_the_sums() -> None:
    shell, a, b, found = SerialArray(2, 2), [[-3, 7], [5, 127]], [[9, -128], [4, 2]], []

    async def pulse(ctx, name: str) -> None:
        ctx.set(getattr(shell, name), 1)
        await ctx.tick()
        ctx.set(getattr(shell, name), 0)

    async def drive(ctx) -> None:
        from stacklib.accelerators.rtl.feed import feed

        await pulse(ctx, "clear")
        for edges in feed(a, b):
            order = [edges[n] for n in ("a0", "a1", "b0", "b1")]
            line = [v >> n & 1 for v in order for n in range(8)]
            for bit in reversed(line):
                ctx.set(shell.data, bit)
                await pulse(ctx, "shift")
            await pulse(ctx, "step")
        for _ in range(4 * 32):
            found.append(ctx.get(shell.show))
            await pulse(ctx, "next")

    simulated(shell, drive)
    sums = [found[n : n + 32] for n in range(0, 128, 32)]
    told = [sum(b << n for n, b in enumerate(s)) - (s[-1] << 32) for s in sums]
    assert told == [1, 398, 553, -386]


def test_wires_and_choices_multiply() -> None:
    weights = [[3, -8, 0, 7], [0, 0, 0, 0], [1, 1, -1, -7]]
    wired, chosen, product = Wired(weights), Chosen(range(-8, 8)), Product(8, 4)
    for x in ([1, 2, 3, 4], [-128] * 4, [127, -128, 5, -1]):

        async def drive(ctx, x=x) -> None:
            for n, value in enumerate(x):
                ctx.set(getattr(wired, f"x{n}"), value)
            found = [ctx.get(getattr(wired, f"y{n}")) for n in range(3)]
            assert found == [
                sum(w * v for w, v in zip(r, x, strict=True)) for r in weights
            ]

        simulated(wired, drive, clocked=False)

    async def choose(ctx) -> None:
        for code in range(16):
            ctx.set(chosen.x, -77)
            ctx.set(chosen.code, code)
            assert ctx.get(chosen.y) == -77 * (code - 8)

    simulated(chosen, choose, clocked=False)
    large = Chosen([300, -300])  # of more bits than a code has

    async def widest(ctx) -> None:
        for code, x in ((0, 127), (1, -128)):
            ctx.set(large.code, code)
            ctx.set(large.x, x)
            assert ctx.get(large.y) == (300, -300)[code] * x

    simulated(large, widest, clocked=False)

    async def multiply(ctx) -> None:
        ctx.set(product.a, -128)
        ctx.set(product.b, -8)
        assert ctx.get(product.p) == 1024

    simulated(product, multiply, clocked=False)


def needs(*variables: str) -> None:
    """Skip where a tool is absent."""
    for variable in variables:
        try:
            tools.program(variable)
        except tools.ToolError as error:
            pytest.skip(f"hardware flow: not run ({error})")


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_icarus_and_gates_agree_with_amaranth(size: int) -> None:
    needs("YOSYS")
    if absent := icarus.missing():
        pytest.skip(f"Icarus: not run (no {', '.join(absent)})")
    pairs = drawn(size, 40)
    verilog = tools.to_verilog(rtlil(Array(size, size)))
    told = by_amaranth(pairs, size, size)
    for (a, b), x, y in zip(pairs, told, icarus.by_icarus(verilog, pairs), strict=True):
        assert first_difference(x, y) is None
        assert first_difference(x, by_gates(a, b)) is None
        assert y[-1].number == DEPTH + 2 * size - 3


@pytest.mark.slow
def test_an_array_of_another_width_is_gates_too() -> None:
    needs("YOSYS")
    a, b = [[-8, 7], [3, -1]], [[5, -8, 2], [7, 7, -6]]
    text = rtlil(Array(2, 3, 4, 12))
    net = tools.to_gates(text, "4 bits", tools.operands(2, 3))
    assert first_difference(by_formula(a, b, 4), by_gates(a, b, net)) is None


@pytest.mark.slow
def test_synthesis_of_another_width_multiplies() -> None:
    needs("YOSYS")
    from stacklib.accelerators.rtl.gates import bits_of, number, run

    net = tools.to_gates(rtlil(Product(5)), "product of 5 bits")
    fed = (
        {"a": bits_of(a, 5), "b": bits_of(b, 5)}
        for a in range(-16, 16)
        for b in range(-16, 16)
    )
    told = [number([bits[n] for n in net.outputs["p"]]) for bits in run(net, fed)]
    assert told == [a * b for a in range(-16, 16) for b in range(-16, 16)]


@pytest.mark.slow
def test_the_split_multiplier_is_proved_and_a_wrong_one_is_not() -> None:
    needs("YOSYS")
    wrong = ByteSplit(8, 4, checks=True)
    wrong.half = 3
    assert tools.proves(rtlil(ByteSplit(8, 4, checks=True)), "checked", 2, 1)
    assert not tools.proves(rtlil(wrong), "checked", 2, 1)


@pytest.mark.slow
def test_three_rows_have_more_pins_than_the_package() -> None:
    needs("YOSYS", "NEXTPNR")
    assert tools.place(rtlil(Mac(3, 8))).pins == 23
    with pytest.raises(tools.ToolError, match=r"hx8k ct256.*SB_IO|hx8k ct256"):
        tools.place(rtlil(Array(3, 3)))


def test_a_missing_tool_is_named(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("YOSYS", "")
    monkeypatch.setattr(tools.sys, "executable", "/nowhere/python")
    with pytest.raises(tools.ToolError, match="no yosys: install stacklib"):
        tools.program("YOSYS")
    assert {"iverilog", "vvp"} <= set(icarus.missing())
    with pytest.raises(tools.ToolError, match="Icarus: iverilog, vvp"):
        icarus.by_icarus("", [([[1]], [[1]])])
