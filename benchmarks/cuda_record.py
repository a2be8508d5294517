"""Record what NVIDIA's compiler makes of the CUDA kernels of chapter 4.

    python benchmarks/cuda_record.py     # -> stacklib/kernels/written/cuda/record.json

PTX by nvcc for compute capability 8.0, machine code from it by ptxas for Hopper. The
opcodes are counted by the nvdisasm inside Triton's wheel.
"""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from stacklib.gpu.code import toolchain  # noqa: E402
from stacklib.kernels.written.cuda_kernels import FOLDER  # noqa: E402

TARGET = "sm_90"


def opcodes(cubin: bytes) -> dict[str, int]:
    """How often each opcode stands in a cubin, without what follows its first dot."""
    triton = importlib.util.find_spec("triton")
    assert triton and triton.origin
    tool = Path(triton.origin).parent / "backends/nvidia/bin/nvdisasm"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(cubin)
        done = subprocess.run([tool, "-c", file.name], capture_output=True, text=True)
    lines = re.findall(r"/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\w+ )?([A-Z]\w*)", done.stdout)
    counted = Counter(line for line in lines if line != "NOP")
    return dict(sorted(counted.items()))


def main() -> None:
    """Write the record."""
    kernels = {}
    for path in sorted(FOLDER.glob("*.cu")):
        ptx = toolchain.to_ptx(path.stem, "80", FOLDER)
        made = toolchain.to_cubin(ptx, TARGET, False)
        kernels[path.stem] = {
            "sha256": toolchain.source_sha256(path.stem, FOLDER),
            "registers": made.registers,
            "shared_bytes": made.shared_bytes,
            "instructions": opcodes(made.data),
            "ptx": trimmed(ptx),
        }
        print(path.stem, kernels[path.stem]["registers"], made.shared_bytes)
    head = {"compiler": toolchain.version(), "target": TARGET, "kernels": kernels}
    (FOLDER / "record.json").write_text(json.dumps(head, indent=0) + "\n", "utf-8")


def trimmed(ptx: str) -> list[str]:
    """The lines up to the kernel's end; what follows describes sources to debuggers."""
    lines = ptx.splitlines()
    end = max(n for n, line in enumerate(lines) if line.strip() == "ret;")
    return [line for line in lines[: end + 2] if not line.strip().startswith(".loc")]


if __name__ == "__main__":
    main()
