"""``stacklib formats [NAME]``: number formats, all the numbers of one, or a scheme."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_formats, as_table, emit, show_table


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "formats",
        description="Without a name: every format, its bits and its range. With one: "
        "its numbers by code, where it has at most 8 bits; of a scheme such as nvfp4, "
        "the bits of a number with its scales, the block and the bytes; of a mixture "
        "such as q4_k_m, which tensors take which.",
    )
    parser.add_argument(
        "format",
        nargs="?",
        help="a format, a scheme or a mixture: e4m3fn, q4_k, q4_k_m",
    )
    add_formats(parser)
    parser.set_defaults(func=run)


def row_of(name: str) -> dict[str, Any]:
    """What there is to say of a format."""
    from stacklib.quantizers import Format

    form = Format(name)
    return {
        "name": form.name,
        "bits": form.bits,
        "exponent_bits": form.row.exponent,
        "significand_bits": form.row.significand,
        "bias": form.row.bias,
        "special": form.row.special,
        "largest": form.largest,
        "least_normal": form.least_normal,
        "smallest": form.smallest,
        "numbers": len(form.values) if form.bits <= 8 else None,
    }


def mixtures() -> list[str]:
    """Names of what keeps scales, or several formats."""
    from stacklib.models.weights.mixtures import NAMES
    from stacklib.quantizers import FORMATS

    return [name for name in NAMES if name not in FORMATS]


def stored_of(name: str) -> dict[str, Any] | None:
    """What there is to say of a scheme, a mixture or fp8; None where it is a format."""
    from stacklib.models.weights.mixtures import NAMES, way
    from stacklib.quantity import UnknownName, resolve
    from stacklib.quantity.names import fold
    from stacklib.quantity.stored import STORED
    from stacklib.quantizers import FORMATS, SCHEMES
    from stacklib.quantizers.formats import FAMILIES

    if fold(name) in map(fold, FORMATS):
        return None
    try:
        key = resolve(name, NAMES, "format or scheme", exact=True)
    except UnknownName:
        either = dict.fromkeys([*FORMATS, *SCHEMES, *NAMES])
        resolve(name, either, "format or scheme", FAMILIES, exact=True)
        raise
    found: dict[str, Any] = {"name": key}
    if key in STORED:
        row = STORED[key]
        if row.block:
            shared = ("code_bits", "block", "scale_bits")
            found |= {field: getattr(row, field) for field in shared}
        found["bits"] = row.bits
    if key in SCHEMES:
        found |= {"layout": SCHEMES[key].layout, "source": SCHEMES[key].source}
    if key in FAMILIES:
        found["one of"] = ", ".join(FAMILIES[key])
    meant = way(key)
    if meant.name != key:
        found["in fit, roofline and models"] = meant.name
    return found | {"weights so called": meant.words, "cache beside": meant.cache}


def run(args: argparse.Namespace) -> int:
    """Print the table, or the numbers of one format."""
    from stacklib.quantizers import FORMATS, Format

    if args.format is None:
        rows = [row_of(name) for name in FORMATS]
        if args.json:
            emit({"formats": rows})
            return 0
        head = ("format", "bits", "exponent", "significand", "largest", "least normal")
        show_table(
            args,
            (*head, "smallest", "numbers"),
            [
                (
                    row["name"],
                    str(row["bits"]),
                    str(row["exponent_bits"]),
                    str(row["significand_bits"]),
                    *(f"{row[k]:.6g}" for k in ("largest", "least_normal", "smallest")),
                    "-" if row["numbers"] is None else str(row["numbers"]),
                )
                for row in rows
            ],
        )
        if not as_table(args):
            print(f"\nschemes and mixtures of weights: {', '.join(mixtures())}")
        return 0
    scheme = stored_of(args.format)
    if scheme:
        if args.json:
            emit(scheme)
        else:
            show_table(
                args, ("of the scheme", "is"), [(k, str(v)) for k, v in scheme.items()]
            )
        return 0
    form = Format(args.format)
    found = row_of(form.name)
    codes = range(1 << form.bits) if form.bits <= 8 else ()
    numbers = [(code, form.decode(code)) for code in codes]
    if args.json:
        shown = [
            [code, repr(x) if x != x or abs(x) == float("inf") else x]
            for code, x in numbers
        ]
        emit(found | {"codes": shown})
        return 0
    if not as_table(args):
        print(
            f"{form.name}: {form.bits} bits, from {form.smallest:.6g} to "
            f"{form.largest:.6g}, full digits from {form.least_normal:.6g}"
        )
    if codes:
        bits = form.bits
        rows_ = [
            (f"{code:0{bits}b}", f"0x{code:02x}", f"{x:.9g}") for code, x in numbers
        ]
        show_table(args, ("bits", "code", "number"), rows_)
    return 0
