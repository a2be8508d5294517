"""What Triton's compiler and ``ptxas`` make of the corpus; needs no GPU.

``python compile_triton.py ROWS.csv OUT.csv`` compiles each row of a table such as
``compiled.csv`` again. A process of its own: the interpreter must be off.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import numpy as np  # noqa: E402
import run_triton  # noqa: E402
import sizes  # noqa: E402

NAMES = {"float32": "fp32", "float16": "fp16", "int32": "i32", "int64": "i64"}
NAMES["int8"] = "i8"


def described(function, case):
    """Types, constants and hints of a case's arguments, as a launch would find them."""
    types, constants, hints = {}, {}, {}
    for at, name in enumerate(function.arg_names):
        value = case.words[name] if name in case.words else case.args[at]
        aligned = [["tt.divisibility", 16]]
        fixed = name in case.words or function.params[at].is_constexpr
        if fixed or (isinstance(value, int) and value == 1):
            types[name], constants[(at,)] = "constexpr", value
        elif isinstance(value, np.ndarray):
            types[name], hints[(at,)] = "*" + NAMES[value.dtype.name], aligned
        elif isinstance(value, int):
            types[name] = "i32"
            hints |= {(at,): aligned} if value % 16 == 0 else {}
        else:
            types[name] = "fp32"
    return types, constants, hints


def compiled(module, row):
    """Shared bytes, registers and spilled bytes of a row's program."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    function = getattr(module, row["program"])
    types, constants, hints = described(function, sizes.case_of(row))
    source = ASTSource(fn=function, signature=types, constexprs=constants, attrs=hints)
    options = {"num_warps": int(row["warps"]), "num_stages": int(row["stages"])}
    target = GPUTarget("cuda", int(row["capability"]), 32)
    made = triton.compile(source, target=target, options=options)
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(made.asm["cubin"])
        asked = [str(tool), "-res-usage", file.name]
        text = subprocess.run(asked, capture_output=True, text=True).stdout
    numbers = [int(re.search(rf"{n}:(\d+)", text)[1]) for n in ("REG", "STACK")]
    return made.metadata.shared, *numbers


def main(rows, out):
    with open(rows) as file:
        table = list(csv.DictReader(file))
    for module in run_triton.corpus():
        for row in table:
            found = compiled(module, row)
            row |= dict(zip(("shared", "registers", "spill"), found, strict=True))
    with open(out, "w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
