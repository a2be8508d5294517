"""The loops that a reader edits in the page say what the package says."""

import contextlib
import io
import json
import re
import subprocess
import sys
import tokenize

import pytest
from _tools import said, telling

from stacklib import gpu, hardware, memory, models, roofline
from stacklib.gpu.issue.decode_slots import decode_slots
from stacklib.memory.dram.bursts import count_stream, stack_bus
from stacklib.memory.scratchpad.operations import cyclic_loads
from stacklib.roofline.host import streams
from stacklib.roofline.timing import timers
from stacklib.roofline.timing.case import case

from ..programs import programs as blocks

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
# Typed in a loop within a hundredth of what its page says of something else.
OTHERS = {
    "02-gpu/schedule": {"255"},  # what rounds up to 256
    "05-accelerators/bytes": {"127"},  # the largest signed byte
    "05-accelerators/rent": {"70.6", "141.1"},  # GB of the weights alone
    "06-interconnect/fabrics": {"2049", "65537"},  # one host more than fit
    "06-interconnect/selection": {"40.6", "56.0"},  # us that do not grow with size
    "07-quantizers/quality": {"1.39", "1.41", "1.48"},  # losses to play with
    "10-frontier/binding": {"5.764"},  # ms of the exchanges of many answers
    "10-frontier/next": {"1.64"},  # times as fast, one part
}


@pytest.fixture(scope="module")
def pages():
    """The programs of each section, by its name."""
    names = [f"{path.parent.name}/{path.stem}" for path in telling.sections()]
    return {name: blocks(name) for name in names}


def printed(code):
    """Lines that a block prints, each as its numbers."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "pyrun", "exec"), {"__name__": "page"})
    lines = out.getvalue().splitlines()
    return [[float(n.replace(",", "")) for n in NUMBER.findall(line)] for line in lines]


def run(page, at=0):
    """What the block of a page prints."""
    return printed(blocks(page)[at])


IN_THE_PAGE = """
import contextlib, io, json, sys, traceback
sys.path.insert(0, sys.argv[1])
for name in ("numpy", "pandas", "matplotlib", "scipy", "numba", "torch"):
    sys.modules[name] = None
told = {}
for page, blocks in json.load(sys.stdin).items():
    for at, code in enumerate(blocks):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(code, page, "exec"), {"__name__": "page"})
        except Exception:
            told[f"{page} {at}"] = traceback.format_exc()
        else:
            if not out.getvalue().strip():
                told[f"{page} {at}"] = "prints nothing"
print(json.dumps(told))
"""


def test_every_block_runs_and_prints_with_what_the_browser_is_given(unpacked, pages):
    run = subprocess.run(
        [sys.executable, "-I", "-c", IN_THE_PAGE, unpacked],
        input=json.dumps(pages),
        capture_output=True,
        text=True,
    )
    assert json.loads(run.stdout) == {}, run.stderr


def test_the_walk_through_the_model_is_the_decode_step():
    step = roofline.decode_step("llama-3-70b", on="h100-sxm", tp=2)
    reading, arithmetic = run("01-roofline/decode")
    assert reading[0] == pytest.approx(1e3 * step.t_memory.si, rel=1e-4)
    assert arithmetic[0] == pytest.approx(1e3 * step.t_compute.si, rel=1e-3)


def test_lines_that_cross_the_bus_are_those_of_the_streams():
    for line, name in zip(
        run("01-roofline/this-machine"), ("copy", "scale", "triad"), strict=True
    ):
        assert line[0] == streams.moved_bytes(name, 1, 8)
        assert line[1] == streams.counted_bytes(name, 1, 8)


def test_the_scheduler_of_the_page_is_near_the_packages():
    for warps, staying, turns in run("01-roofline/cores"):
        for share, policy in ((staying, "gto"), (turns, "lrr")):
            seen = gpu.schedule(
                int(warps), work=4, latency=36, rounds=200, policy=policy
            ).utilisation
            assert share == pytest.approx(100 * seen, abs=1.5)


def test_the_queue_reads_what_the_timers_read():
    launch, seconds, depth = case().launch.si, case().seconds.si, 1024
    for line in run("01-roofline/timing"):
        calls, read = int(line[-2]), line[-1]
        told = (
            timers.naive_reading(launch, seconds, calls, depth),
            timers.synchronised_reading(launch, seconds, calls),
        )
        assert any(read == pytest.approx(1e6 * t, rel=2e-3) for t in told)


def test_issue_slots_walked_are_those_of_the_formula():
    parts = {p.part: p.time.si for p in decode_slots("llama-3-70b", on="h100-sxm")}
    ((share,),) = run("02-gpu/journey")
    told = 100 * parts["issue slots"] / parts["memory"]
    assert share == pytest.approx(told, abs=0.2)  # the page leaves the cache out


def test_strides_wait_as_the_bus_counts():
    bus = stack_bus("hbm3")
    for step, share, *_ in run("03-memory/hbm"):
        addresses = [int(i * step) * bus.access for i in range(2048)]
        done = count_stream(bus, addresses, size=bus.access)
        assert share == pytest.approx(100 * done.bandwidth / bus.bandwidth, rel=2e-3)


def test_rows_in_a_window_leave_what_the_rules_leave():
    from stacklib.memory.dram.rates import random_rate

    part = memory.dram_part("hbm3")
    ((share,),) = run("03-memory/dram")
    told = random_rate(part).si / part.bandwidth.si
    assert share == pytest.approx(100 * told, rel=5e-3)


def test_blocks_of_a_loop_are_copied_as_the_closed_form_says():
    for room, lru, belady in run("03-memory/scratchpad"):
        blocks_, fit = 32, int(room)
        assert belady == cyclic_loads(blocks_, fit, 32, "belady")
        # The page keeps dead blocks in the last round; the package lets them go.
        over = blocks_ - fit
        extra = blocks_ - over - 1 if over else 0
        assert lru == cyclic_loads(blocks_, fit, 32, "lru") + extra


def typed(code):
    """Its numbers of three digits and more, as they stand there."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        plain = token.string.replace("_", "")
        if token.type == tokenize.NUMBER and re.fullmatch(r"\d+\.?\d*", plain):
            digits = plain.replace(".", "").lstrip("0")
            if len(digits if "." in plain else digits.rstrip("0")) > 2:
                yield plain


def half(text):
    """Half of its last digit's place."""
    return 0.5001 * 10.0 ** -len(text.partition(".")[2])


def stale(codes, told):
    """Numbers that are nearly, and not when rounded, what a page says."""
    for number in {n for code in codes for n in typed(code)}:
        near = {t: abs(float(number) - float(t)) for t in told}
        near = {t: off for t, off in near.items() if off < 0.01 * float(t)}
        if near and all(off > max(half(t), half(number)) for t, off in near.items()):
            yield number, sorted(near)


def test_loops_begin_with_the_numbers_of_their_pages(pages):
    found = {}
    for path in telling.sections():
        name = f"{path.parent.name}/{path.stem}"
        cells = said.of_notebook(json.loads(path.read_text("utf-8")), name)
        rows = [row for cell in cells for row in cell.stored["numbers"].values()]
        texts = {n for row in rows for n in NUMBER.findall(row["text"])[:1]}
        told = {t.replace(",", "") for t in texts if "e" not in t}
        if odd := dict(stale(pages[name], told)):
            found[name] = odd
    assert {name: set(odd) for name, odd in found.items()} == OTHERS, found


def test_a_page_that_has_moved_on_is_noticed():
    code = "rate, cards, size = 3750, 8, 141.14"
    assert list(stale([code], {"3730", "141.1"})) == [("3750", ["3730"])]
    assert not list(stale([code], {"3750", "3730", "3.75", "141"}))


def test_a_changed_loop_is_noticed():
    (code,) = blocks("01-roofline/decode")
    reading, _ = printed(code.replace("2 * weights +", "3 * weights +"))
    step = roofline.decode_step("llama-3-70b", on="h100-sxm", tp=2)
    assert reading[0] != pytest.approx(1e3 * step.t_memory.si, rel=1e-2)


def test_devices_and_models_of_the_blocks_are_known(pages):
    code = "\n".join(text for programs in pages.values() for text in programs)
    for key in re.findall(r'hardware\.get\("([\w.-]+)"\)', code):
        assert hardware.get(key)
    for key in re.findall(r'models\.get\("([\w.-]+)"\)', code):
        assert models.get(key)
