"""The recorded output of NVIDIA's compiler: whole, self-consistent, and repeatable."""

import dataclasses
import re
import sys

import pytest

from stacklib import gpu
from stacklib.gpu.code import sass, toolchain
from stacklib.gpu.code.compiled import (
    TARGETS,
    kernels,
    probes,
    ptx_text,
    recompiled,
    record,
)
from stacklib.gpu.code.ptx import parse
from stacklib.quantity import UnknownName

from ...rows import refusals

EVERY = [(k, t) for k in kernels() for t in TARGETS]
installed = pytest.mark.skipif(
    toolchain.version() != record()["compiler"],
    reason=f"nvcc {record()['compiler']} is not on the path",
)


def test_record_is_of_these_sources():
    for name in kernels():
        assert record()["kernels"][name]["sha256"] == toolchain.source_sha256(name)
    assert set(kernels()) == {p.stem for p in toolchain.KERNELS.glob("*.cu")}
    text = (toolchain.KERNELS / "record.json").read_text("utf-8")
    assert "/tmp" not in text and "/home" not in text


@installed
@pytest.mark.rows("name", kernels(), drawn=3)
def test_the_compiler_says_it_again(name):
    for target in ("sm_90", "sm_120"):
        ptx, words = recompiled(name, target)
        now, kept = parse(ptx), gpu.compiled(name, target)
        assert now.code == kept.ptx.code
        assert words == [(at.low, at.high) for at in kept.sass.code]


@installed
def test_the_assembler_refuses_again():
    text = (toolchain.KERNELS / "probes" / "wgmma.mma_async.txt").read_text("utf-8")
    toolchain.to_cubin(text.replace("TARGET", "sm_90a"), "sm_90a", False)
    with pytest.raises(toolchain.CompileError, match="wgmma"):
        toolchain.to_cubin(text.replace("TARGET", "sm_100a"), "sm_100a", False)


def test_without_compiler(monkeypatch):
    assert toolchain._run([sys.executable, "-c", "print(1)"]).strip() == "1"
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(toolchain.CompileError, match="nvcc is not on the path"):
        toolchain.to_ptx("twice", "80")


@pytest.mark.rows(("kernel", "target"), EVERY)
def test_sixteen_bytes_each(kernel, target):
    code = gpu.compiled(kernel, target).sass
    assert code.size == 16 * len(code.code) and code.size % 128 == 0
    assert code.useful[-1].opcode in ("EXIT", "BRA")
    assert [at.address for at in code.code] == list(range(0, code.size, 16))
    assert sum(code.groups().values()) == len(code.useful)
    assert "other" not in code.groups() and "padding" not in code.groups()


@pytest.mark.rows(("kernel", "target"), EVERY)
def test_encoding_agrees_with_the_text(kernel, target):
    """Guard and destination stand in fixed bits: 12 to 15, and 16 to 23."""
    for at in gpu.compiled(kernel, target).sass.useful:
        guard = at.low >> 12 & 15
        shown = re.match(r"@(!?)U?P(\d|T)", at.guard)
        assert (guard == 7) == (shown is None)
        if shown:
            assert guard == int(shown[2]) + 8 * bool(shown[1])
        general = [r for r in at.writes if r.startswith("R")]
        if general and not at.opcode.startswith(("R2UR", "S2UR", "SHFL")):
            assert at.low >> 16 & 255 == int(general[0][1:])


@pytest.mark.rows(("kernel", "target"), EVERY)
def test_nobody_reads_before_the_result_has_come(kernel, target):
    code = gpu.compiled(kernel, target).sass
    assert sass.unguarded(code) == ()
    assert all(cycles >= 1 for cycles in sass.spacing(code).values())


def test_the_compiler_leaves_four_cycles():
    found = [sass.spacing(gpu.compiled(k, t).sass) for k, t in EVERY]
    general = ("IMAD", "IADD3", "LOP3", "LEA", "FADD", "FFMA", "VIADD", "SHF", "MOV")
    assert min(row[op] for row in found for op in general if op in row) == 4


def test_planted_faults_are_seen():
    code = gpu.compiled("twice", "sm_90").sass
    deaf = [dataclasses.replace(at, high=at.high & ~(0x3F << 52)) for at in code.code]
    faults = sass.unguarded(sass.Sass(tuple(deaf), code.labels))
    assert any("FADD" in fault and "R2 may not have come" in fault for fault in faults)
    hasty = [
        dataclasses.replace(at, high=at.high & ~(0xF << 41) | 1 << 41)
        for at in code.code
    ]
    assert min(sass.spacing(sass.Sass(tuple(hasty), code.labels)).values()) == 1


@pytest.mark.rows(("kernel", "target"), EVERY)
def test_registers(kernel, target):
    """The assembler reports two more than the code names, everywhere."""
    made = gpu.compiled(kernel, target)
    assert made.registers == made.sass.registers + 2
    assert sass.Sass((), {}).registers == 0
    fits = gpu.occupancy(
        threads=256, registers=made.registers, shared_bytes=made.shared_bytes
    )
    assert fits.occupancy == 1.0


def test_lines_lead_back_to_the_source():
    made = gpu.compiled("twice", "sm_90")
    [line] = [
        k for k, text in enumerate(made.source.splitlines(), 1) if "dst[i]" in text
    ]
    heads = {at.opcode.split(".")[0] for at in made.sass.of_line(line)}
    assert {"LDG", "STG", "FADD"} <= heads
    ptx = {at.opcode for at in made.ptx.code if at.source_line == line}
    assert {"ld.global.f32", "st.global.f32", "add.f32"} <= ptx


def test_one_binary_for_one_architecture():
    """The same PTX; arguments and encodings lie elsewhere, so a binary cannot move."""
    words = {
        t: [(a.low, a.high) for a in gpu.compiled("twice", t).sass.useful]
        for t in TARGETS
    }
    assert len({tuple(w) for w in words.values()}) >= 3
    assert len({gpu.compiled("twice", t).ptx_text for t in TARGETS}) == 1
    offsets = [
        re.findall(
            r"c\[0x0\]\[0x(\w+)\]",
            " ".join(
                a.operands for a in gpu.compiled("twice", t).sass.useful if a.line == 6
            ),
        )
        for t in TARGETS
    ]
    assert len({frozenset(o) for o in offsets}) >= 3


def test_who_takes_which_instruction():
    """As the table of instructions has it: the way to the printed rate, by target."""
    for capability, target in (
        ("8.0", "sm_80"),
        ("9.0", "sm_90a"),
        ("10.0", "sm_100a"),
        ("12.0", "sm_120a"),
    ):
        assert gpu.accepted(gpu.instruction(capability).name, target).accepted
    for target in record()["probes"]["wgmma.mma_async"]:
        assert gpu.accepted("wgmma.mma_async", target).accepted == (target == "sm_90a")
        tensor = gpu.accepted("tcgen05.mma", target).accepted
        assert tensor == (target in ("sm_100a", "sm_103a"))
    assert "HGMMA" in gpu.accepted("wgmma.mma_async", "sm_90a").text
    assert "not supported" in gpu.accepted("wgmma.mma_async", "sm_100a").text


def test_tensor_copies_have_one_to_five_dimensions():
    five, six = (f"cp.async.bulk.tensor.{n}d" for n in (5, 6))
    assert gpu.accepted(five, "sm_90").text.startswith("UTMALDG.5D")
    assert not any(gpu.accepted(six, t).accepted for t in record()["probes"][six])
    assert not gpu.accepted("cp.async.bulk", "sm_80").accepted


test_unknown_names_suggest = refusals(
    (lambda: gpu.compiled("twise"), "twice"),
    (lambda: gpu.compiled("twice", "sm_91"), "sm_90"),
    (lambda: gpu.accepted("wgmma.mma_sync", "sm_90a"), "wgmma.mma_async"),
    (lambda: ptx_text("twice", "81"), "80"),
    error=UnknownName,
)


def test_rows_of_another_form():
    with pytest.raises(ValueError, match="not 'line"):
        sass.read(["7|12"])
    with pytest.raises(ValueError, match="no 64-bit ELF"):
        toolchain.machine_code(b"MZ" + bytes(80))
    assert len(probes()) >= 6
