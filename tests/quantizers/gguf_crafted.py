"""GGUF files of strangers: a builder, and forty-eight that no reader may take."""

import struct

import numpy as np

TEXT, LIST, UINT, INT = 8, 9, 4, 5
HUGE = 1 << 63


def built(facts=(), tensors=(), data=b"", *, version=3, order="<", counts=None):
    """A file of facts (key, type, bytes) and tensors (name, sizes, type, offset)."""
    wide = "I" if version == 1 else "Q"

    def text(raw):
        return struct.pack(order + wide, len(raw)) + raw

    many, few = counts or (len(tensors), len(facts))
    head = b"GGUF" + struct.pack(f"{order}I{wide}{wide}", version, many, few)
    for key, kind, raw in facts:
        head += text(key) + struct.pack(order + "I", kind) + raw
    for name, sizes, kind, offset in tensors:
        form = f"{order}I{len(sizes)}{wide}IQ"
        head += text(name) + struct.pack(form, len(sizes), *sizes, kind, offset)
    return head + bytes(-len(head) % 32) + data


def number(form, value):
    return struct.pack("<" + form, value)


def text(raw, size=None):
    return number("Q", len(raw) if size is None else size) + raw


def listed(kind, count, raw=b""):
    return struct.pack("<IQ", kind, count) + raw


def aligned(kind, raw):
    return built([(b"general.alignment", kind, raw)], [(b"t", (8,), 0, 0)], bytes(32))


def one(sizes=(8,), kind=0, offset=0, data=bytes(64)):
    return built([], [(b"t", sizes, kind, offset)], data)


def fact(kind, raw):
    return built([(b"k", kind, raw)])


def two(first, second, data=bytes(96)):
    return built([], [first, second], data)


# what is wrong: the file, and what its refusal says
CRAFTED = {
    "nothing": (b"", "does not begin"),
    "magic alone": (b"GGUF", "within the header"),
    "another file": (b"PK\3\4" + bytes(60), "does not begin"),
    "magic backwards": (b"FUGG" + built()[4:], "does not begin"),
    "version 0": (built(version=0), "version 0"),
    "version 4": (built(version=4), "version 4"),
    "big endian, version 2": (built(version=2, order=">"), "version 2 of big"),
    "2**63 tensors": (built(counts=(HUGE, 0)), "tensors: more"),
    "2**64 - 1 facts": (built(counts=(0, 2 * HUGE - 1)), "facts: more"),
    "more tensors than there are": (built(counts=(9, 0)), "a name of"),
    "more facts than there are": (built(counts=(0, 9)), "a name of"),
    "text of 16 GB": (fact(TEXT, text(b"abc", 1 << 34)), "'k'"),
    "text of 2**64 - 1": (fact(TEXT, text(b"abc", 2 * HUGE - 1)), "'k'"),
    "key of 16 GB": (built(counts=(0, 1)) + number("Q", 1 << 34), "a name of"),
    "empty key": (built([(b"", UINT, number("I", 1))]), "name of 0 bytes"),
    "key not UTF-8": (built([(b"a\xff", UINT, number("I", 1))]), "not UTF-8"),
    "key twice": (built([(b"k", UINT, number("I", 1))] * 2), "'k' is given twice"),
    "type 13": (fact(13, number("I", 1)), "'k' has type 13"),
    "type -1": (fact(2**32 - 1, number("I", 1)), "'k' has type"),
    "truth of 2": (fact(7, b"\2"), "'k' has a truth value of 2"),
    "list of truths, one 9": (fact(LIST, listed(7, 3, b"\1\0\x09")), "of 9"),
    "list of lists": (
        fact(LIST, listed(LIST, 1, listed(UINT, 1, number("I", 1)))),
        "'k' is a list of type 9",
    ),
    "list of type 77": (fact(LIST, listed(77, 1, bytes(8))), "list of type 77"),
    "2**62 numbers": (fact(LIST, listed(UINT, 1 << 62)), "'k'"),
    "2**61 doubles": (fact(LIST, listed(12, 1 << 61, bytes(80))), "'k'"),
    "2**63 texts": (fact(LIST, listed(TEXT, HUGE, text(b"a") * 3)), "'k'"),
    "text of a list beyond": (fact(LIST, listed(TEXT, 2, text(b"a", HUGE))), "'k'"),
    "alignment 0": (aligned(UINT, number("I", 0)), "general.alignment = 0"),
    "alignment 3": (aligned(UINT, number("I", 3)), "general.alignment = 3"),
    "alignment -32": (aligned(INT, number("i", -32)), "general.alignment = -32"),
    "alignment of 64 bits": (aligned(10, number("Q", 32)), "general.alignment = 32"),
    "alignment a list": (
        aligned(LIST, listed(UINT, 1, number("I", 32))),
        r"general.alignment = \[32\]",
    ),
    "alignment a text": (aligned(TEXT, text(b"32")), "general.alignment = '32'"),
    "tensor without a name": (built([], [(b"", (8,), 0, 0)], bytes(32)), "name of 0"),
    "tensor not UTF-8": (built([], [(b"\xc3(", (8,), 0, 0)], bytes(32)), "not UTF-8"),
    "tensor twice": (
        two((b"t", (8,), 0, 0), (b"t", (8,), 0, 32)),
        "'t' is given twice",
    ),
    "5 axes": (one((1, 1, 1, 1, 8)), "'t' has 5 axes"),
    "2**32 - 1 axes": (
        built(counts=(1, 0))[:24] + text(b"t") + number("I", 2**32 - 1),
        "'t' has 4294967295 axes",
    ),
    "size 0": (one((8, 0)), "'t' of shape"),
    "size -1": (one((2 * HUGE - 1,)), "'t' of shape"),
    "sizes beyond 64 bits": (one((4194305, 4194305, 211106198978564)), "'t' of shape"),
    "bytes beyond 64 bits": (one((1 << 40, 1 << 22)), "'t' ends at byte"),
    "rows no block divides": (one((33,), 2), "32 does not divide its rows"),
    "scalar in blocks": (one((), 8), "32 does not divide its rows"),
    "offset past the end": (one(offset=1 << 40), "'t' ends at byte"),
    "offset -32": (one(offset=2 * HUGE - 32), "'t' ends at byte"),
    "offset unaligned": (one(offset=8), "'t' has offset 8"),
    "overlapping": (
        two((b"first", (16,), 0, 0), (b"second", (8,), 0, 32)),
        "'second' has an offset within 'first'",
    ),
}


def sample():
    """A file with every kind of fact and three tensors, to be spoilt."""
    numbers = "BbHhIif?", (1, -1, 2, -2, 3, -3, 0.5, True)
    facts = [
        (f"n.{kind}".encode(), kind, number(form, value))
        for kind, (form, value) in enumerate(zip(*numbers, strict=True))
    ]
    facts += [
        (b"general.alignment", UINT, number("I", 32)),
        (b"general.name", TEXT, text("Zwölf".encode())),
        (b"texts", LIST, listed(TEXT, 3, text(b"a") + text(b"") + text(b"bcd"))),
        (b"ints", LIST, listed(INT, 3, struct.pack("<3i", 1, -2, 3))),
        (b"none", LIST, listed(TEXT, 0)),
        (b"long", 10, number("Q", 7)),
    ]
    floats = np.arange(64, dtype="<f4").tobytes()
    tensors = [(b"f", (32, 2), 0, 0), (b"q", (32, 2), 8, 256), (b"b", (8,), 30, 352)]
    return built(facts, tensors, floats + bytes(range(68)) + bytes(28) + bytes(16))
