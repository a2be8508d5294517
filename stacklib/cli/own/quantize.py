"""``stacklib quantize tiny --scheme q4_k --out model.gguf``: a model in few bits."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..arguments import add_json, columns, emit

SUFFIXES = (".gguf", ".safetensors")


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "quantize",
        description="Quantizes every matrix of a model of the book. With --out it "
        "writes GGUF, which llama.cpp runs, or safetensors; without, it says what the "
        "file would hold.",
    )
    parser.add_argument("model", nargs="?", default="tiny", help="tiny, draft (tiny)")
    parser.add_argument("--scheme", default="q4_k", help="q4_k, mxfp4, nf4, ... (q4_k)")
    parser.add_argument(
        "--method", default="round", help="round, gptq, awq: looks at inputs (round)"
    )
    parser.add_argument("--out", help="a file that ends in .gguf or .safetensors")
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is there"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Quantize, write, and say what came of it."""
    out = Path(args.out) if args.out else None
    if out is not None:
        if out.suffix not in SUFFIXES:
            raise ValueError(f"--out {out}: it ends in {' or '.join(SUFFIXES)}")
        if out.exists() and not args.force:
            raise ValueError(f"--out {out} exists; another name, or --force")
    from stacklib.quantizers.scheme import scheme_row
    from stacklib.tinylm import load
    from stacklib.tinylm.gguf_model import write_model
    from stacklib.tinylm.quantized import calibration, layer_inputs, quantized
    from stacklib.tinylm.weights import write_quantized

    model = load(args.model)
    inputs = None
    if args.method != "round":
        inputs = layer_inputs(model, calibration())
    as_gguf = out is not None and out.suffix == ".gguf"
    # llama.cpp has no place for the scale of an embedding in NVFP4
    keep = as_gguf and scheme_row(args.scheme).name == "nvfp4"
    made = quantized(model, args.scheme, args.method, inputs, embedding=not keep)
    if out is not None and as_gguf:
        write_model(out, made, force=args.force)
    elif out is not None:
        write_quantized(out, made.tensors)
    kinds: dict[str, int] = {}
    for tensor in made.tensors.values():
        kind = getattr(tensor, "scheme", "fp32")
        kinds[kind] = kinds.get(kind, 0) + 1
    if args.json:
        emit(
            {
                "model": model.name,
                "scheme": made.scheme,
                "method": made.method,
                "parameters": model.parameters,
                "bytes": made.nbytes,
                "bits": made.bits,
                "tensors": kinds,
                "fallbacks": made.fallbacks,
                "file": str(out) if out else None,
                "file_bytes": out.stat().st_size if out else None,
            }
        )
        return 0
    rows = [("tensors", "scheme"), *((str(n), kind) for kind, n in kinds.items())]
    print(columns(rows))
    before = 2 * model.parameters
    print(
        f"{model.name} in {made.scheme}: {made.nbytes:,} B, {made.bits:.3f} bits a "
        f"weight; {before / made.nbytes:.2f} times less than bf16's {before:,} B"
    )
    if made.fallbacks:
        print(
            f"{len(made.fallbacks)} matrices have rows that 256 does not divide and "
            "take the type that llama.cpp falls back to"
        )
    if out is not None:
        print(f"wrote {out}: {out.stat().st_size:,} B")
    return 0
