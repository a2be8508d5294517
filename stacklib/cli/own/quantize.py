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
        description="Quantizes every matrix of a model: one of the book, or a folder "
        "of Hugging Face's (Llama, Mistral, Qwen 2, Qwen 3; safetensors). With --out "
        "it writes GGUF, which llama.cpp runs; of the book's models also safetensors, "
        "of a folder a folder as compressed-tensors lays it out, which vLLM reads. "
        "Without, it says what would be written.",
    )
    parser.add_argument(
        "model", nargs="?", default="tiny", help="tiny, draft, or a folder (tiny)"
    )
    parser.add_argument("--scheme", default="q4_k", help="q4_k, mxfp4, nf4, ... (q4_k)")
    parser.add_argument(
        "--method",
        default="round",
        help="round, gptq, awq: looks at inputs, of the book's models (round)",
    )
    parser.add_argument(
        "--out", help="a file that ends in .gguf or .safetensors; of a folder a folder"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is there"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Quantize, write, and say what came of it."""
    out = Path(args.out) if args.out else None
    folder = Path(args.model)
    if out is not None:
        if out.suffix not in SUFFIXES and not folder.is_dir():
            raise ValueError(f"--out {out}: it ends in {' or '.join(SUFFIXES)}")
        if out.exists() and not args.force:
            raise ValueError(f"--out {out} exists; another name, or --force")
    told = _folder(args, folder, out) if folder.is_dir() else _own(args, out)
    if args.json:
        emit(told)
        return 0
    kinds = told["tensors"].items()
    print(columns([("tensors", "scheme"), *((str(n), kind) for kind, n in kinds)]))
    before = 2 * told["parameters"]
    print(
        f"{told['model']} in {told['scheme']}: {told['bytes']:,} B, "
        f"{told['bits']:.3f} bits a weight; {before / told['bytes']:.2f} times less "
        f"than bf16's {before:,} B"
    )
    if told["fallbacks"]:
        print(
            f"{len(told['fallbacks'])} matrices have rows that the block does not "
            "divide and take the type that llama.cpp falls back to, or stay"
        )
    if told.get("vocabulary"):
        print(told["vocabulary"])
    if out is not None:
        print(f"wrote {out}: {told['file_bytes']:,} B")
    return 0


def _folder(args: argparse.Namespace, folder: Path, out: Path | None) -> dict[str, Any]:
    """Quantize a folder of Hugging Face's."""
    from stacklib.quantizers.checkpoint_gguf import planned_bytes, write_checkpoint
    from stacklib.quantizers.checkpoints import open_checkpoint
    from stacklib.quantizers.compressed_folder import (
        LAYOUTS,
        planned_folder,
        write_compressed,
    )
    from stacklib.quantizers.gguf_file import TYPES
    from stacklib.quantizers.scheme import scheme_row

    if args.method != "round":
        raise ValueError(f"--method {args.method}: a folder is rounded plainly: round")
    scheme = scheme_row(args.scheme).name
    checkpoint = open_checkpoint(folder)
    if out is None:
        as_file = scheme in TYPES
        if not as_file and scheme not in LAYOUTS:
            known = ", ".join(dict.fromkeys((*TYPES, *LAYOUTS)))
            raise ValueError(f"--scheme {scheme}: of a folder one of {known}")
        found = (planned_bytes if as_file else planned_folder)(checkpoint, scheme)
    elif out.suffix == ".gguf":
        found = write_checkpoint(out, checkpoint, scheme)
    elif out.suffix == ".safetensors" or out.is_file():
        raise ValueError(
            f"--out {out}: of a folder a file that ends in .gguf, or a folder"
        )
    elif out.resolve() == folder.resolve():
        raise ValueError(f"--out {out}: the folder that is read")
    else:
        found = write_compressed(out, checkpoint, scheme)
    return {
        "model": folder.resolve().name,
        "scheme": scheme,
        "method": "round",
        "parameters": found.parameters,
        "bytes": found.nbytes,
        "bits": found.bits,
        "tensors": found.kinds,
        "fallbacks": found.fallbacks,
        "vocabulary": found.words,
        **_written(out),
    }


def _own(args: argparse.Namespace, out: Path | None) -> dict[str, Any]:
    """Quantize a model of the book."""
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
    return {
        "model": model.name,
        "scheme": made.scheme,
        "method": made.method,
        "parameters": model.parameters,
        "bytes": made.nbytes,
        "bits": made.bits,
        "tensors": kinds,
        "fallbacks": made.fallbacks,
        **_written(out),
    }


def _written(out: Path | None) -> dict[str, Any]:
    if out is None:
        return {"file": None, "file_bytes": None}
    files = [p for p in out.iterdir() if p.is_file()] if out.is_dir() else [out]
    return {"file": str(out), "file_bytes": sum(p.stat().st_size for p in files)}
