"""Record what NVIDIA's compiler makes of the book's kernels.

    python benchmarks/compile_record.py path/to/nvdisasm   # -> stacklib/gpu/code/data

PTX by nvcc for the oldest and the newest virtual architecture; machine code by ptxas
from the oldest PTX for four real ones, which is what a driver does with it; and what
ptxas says to matrix instructions and bulk copies on each target.
"""

import datetime
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from stacklib.gpu.code import toolchain  # noqa: E402
from stacklib.gpu.code.compiled import PTX_FOR, TARGETS  # noqa: E402

PROBED = (
    "sm_75",
    "sm_80",
    "sm_90",
    "sm_90a",
    "sm_100",
    "sm_100a",
    "sm_103a",
    "sm_120",
    "sm_120a",
)
WANTED = re.compile(r"\b\w*(?:MMA|UBLKCP|UTMALDG)\S* [^;]*")


def disassemble(tool: str, cubin: bytes) -> str:
    """nvdisasm's text, with encodings and source lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.cubin"
        path.write_bytes(cubin)
        done = subprocess.run(
            [tool, "-c", "-g", "-hex", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout


def listing(text: str, source: str) -> list[str]:
    """One string an instruction: source line, low word, high word, text."""
    rows: list[list[str]] = []
    line = "0"
    for row in text.splitlines():
        if mark := re.findall(rf'{source}", line (\d+)', row):
            line = mark[-1]
        elif label := re.match(r"(\.L_x_\d+):", row):
            rows.append([label[1] + ":"])
        elif code := re.match(
            r"\s+/\*[0-9a-f]{4}\*/\s+(.*?)\s*;\s+/\* 0x(\w+) \*/", row
        ):
            rows.append([line, code[2], "", code[1]])
        elif high := re.match(r"\s+/\* 0x(\w+) \*/", row):
            rows[-1][2] = high[1]
    return ["|".join(row) for row in rows]


def kernel(tool: str, name: str) -> dict[str, Any]:
    """All that is kept of one kernel."""
    ptx = {c: toolchain.to_ptx(name, c) for c in PTX_FOR}
    sass = {}
    for target in TARGETS:
        made = toolchain.to_cubin(ptx[PTX_FOR[0]], target)
        sass[target] = {
            "registers": made.registers,
            "shared_bytes": made.shared_bytes,
            "code": listing(disassemble(tool, made.data), f"{name}.cu"),
        }
    return {
        "sha256": toolchain.source_sha256(name),
        "ptx": {c: text.splitlines() for c, text in ptx.items()},
        "sass": sass,
    }


def refusal(said: str, name: str) -> str:
    """The first complaint that names the instruction, else the first."""
    lines = [
        re.sub(r".*?(error|fatal)\s*:\s*", "", line)
        for line in said.splitlines()
        if ";" in line
    ]
    return next((line for line in lines if name in line), lines[0])


def probe(tool: str, name: str, text: str) -> dict[str, dict[str, str]]:
    """What each target makes of one instruction, or the first refusal."""
    found = {}
    for target in PROBED:
        try:
            made = toolchain.to_cubin(text.replace("TARGET", target), target, False)
        except toolchain.CompileError as error:
            found[target] = {"refused": refusal(str(error), name)}
        else:
            match = WANTED.search(disassemble(tool, made.data))
            found[target] = {"became": match[0].strip() if match else ""}
    return found


def main(tool: str) -> None:
    """Write the record."""
    said = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    names = sorted(path.stem for path in toolchain.KERNELS.glob("*.cu"))
    probes = sorted((toolchain.KERNELS / "probes").glob("*.txt"))
    record = {
        "date": datetime.date.today().isoformat(),
        "compiler": toolchain.version(),
        "disassembler": re.findall(r"V([\d.]+)", said)[0],
        "commands": [
            "nvcc -arch=compute_80 -lineinfo -ptx KERNEL.cu",
            "ptxas -arch=TARGET -v -lineinfo KERNEL.ptx",
            "nvdisasm -c -g -hex KERNEL.cubin",
        ],
        "kernels": {name: kernel(tool, name) for name in names},
        "probes": {p.stem: probe(tool, p.stem, p.read_text("utf-8")) for p in probes},
    }
    path = toolchain.KERNELS / "record.json"
    path.write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")
    print(f"wrote {path}: {path.stat().st_size:,} B")


if __name__ == "__main__":
    main(sys.argv[1])
