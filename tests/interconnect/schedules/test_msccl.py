"""MSCCL's XML: schedules written as thread blocks are read back, faults are named."""

from collections import Counter, defaultdict

import pytest

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.msccl import COLLECTIVES, from_msccl
from stacklib.interconnect.schedules.verify import verify
from stacklib.quantity import UnknownName

from ...rows import refusals

PAIRS = [
    (collective, algorithm)
    for collective in ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
    for algorithm in ("ring", "direct", "halving_doubling", "tree", "bruck")
    if algorithm in algorithms.KNOWN[collective]
]


def line(kind, at, depid=-1, deps=-1):
    place = f'srcbuf="i" srcoff="{at}" dstbuf="i" dstoff="{at}" cnt="1"'
    return f'<step type="{kind}" {place} depid="{depid}" deps="{deps}"/>'


def xml(schedule):
    """A block for what each GPU sends to each other, and one for what it receives.

    A line waits for all lines of its GPU that touched the same chunk in earlier steps.
    """
    blocks = defaultdict(dict)
    touched = defaultdict(list)
    whole = "i" if schedule.collective != "all_gather" else "o"

    def add(rank, send, recv, kind, chunk, step):
        block = blocks[rank].setdefault((send, recv), [])
        waits = [at for one, at in touched[rank, chunk] if one < step]
        lines = [line("nop", 0, *at) for at in waits[1:]]
        block += [*lines, line(kind, chunk, *(waits[0] if waits else (-1, -1)))]
        here = list(blocks[rank]).index((send, recv)), len(block) - 1
        touched[rank, chunk].append((step, here))

    for step, source, to, chunk, reduce in schedule.sends:
        add(source, to, -1, "s", chunk, step)
        add(to, -1, source, "rrc" if reduce else "r", chunk, step)
    names = {ours: theirs for theirs, ours in COLLECTIVES.items()}
    gpus = "".join(
        f'<gpu id="{rank}">'
        + "".join(
            f'<tb id="{at}" send="{send}" recv="{recv}">{"".join(lines)}</tb>'
            for at, ((send, recv), lines) in enumerate(blocks[rank].items())
        )
        + "</gpu>"
        for rank in range(schedule.ranks)
    )
    head = f'coll="{names[schedule.collective]}" inplace="1"'
    return (
        f'<algo {head} ngpus="{schedule.ranks}" nchunksperloop="{schedule.chunks}">'
        f"{gpus}</algo>"
    ).replace('buf="i"', f'buf="{whole}"')


@pytest.mark.rows(("collective", "algorithm"), PAIRS)
def test_what_is_written_as_thread_blocks_is_read_back(collective, algorithm):
    for ranks in (2, 3, 5, 8):
        made = getattr(algorithms, collective)(ranks, algorithm)
        read = from_msccl(xml(made))
        assert verify(read).holds, verify(read)
        assert Counter(s[1:] for s in read.sends) == Counter(s[1:] for s in made.sends)


def test_a_line_may_pass_on_what_comes():
    """A ring of three whose middle lines receive, add and send at once."""
    gpus = ""
    for rank in range(3):
        kinds = ["s", "rrs", "rrcs", "rcs", "r"]
        lines = [line(kind, (rank - at) % 3) for at, kind in enumerate(kinds)]
        peers = f'send="{(rank + 1) % 3}" recv="{(rank - 1) % 3}"'
        gpus += f'<gpu id="{rank}"><tb id="0" {peers}>{"".join(lines)}</tb></gpu>'
    read = from_msccl(HEAD.format(3, 3) + gpus + "</algo>")
    proof = verify(read)
    assert proof.holds and proof.sends == proof.least == 12 and read.steps == 4
    wrong = from_msccl((HEAD.format(3, 3) + gpus + "</algo>").replace("rrs", "rcs", 1))
    assert not verify(wrong).holds


HEAD = '<algo coll="allreduce" inplace="1" ngpus="{}" nchunksperloop="{}">'


def two(first, second):
    gpus = [
        f'<gpu id="{at}"><tb id="0" send="{1 - at}" recv="{1 - at}">{lines}</tb></gpu>'
        for at, lines in enumerate((first, second))
    ]
    return HEAD.format(2, 2) + "".join(gpus) + "</algo>"


S, R = line("s", 0), line("r", 0)
test_what_cannot_be_read_is_named = refusals(
    (lambda: from_msccl("0>1 c0 +"), "no XML"),
    (
        lambda: from_msccl(HEAD.format("two", 2) + "</algo>"),
        "ngpus = 'two' is no whole",
    ),
    (lambda: from_msccl("<algo/>"), "<algo>: coll is missing"),
    (
        lambda: from_msccl(HEAD.format(2, 2).replace('inplace="1"', "") + "</algo>"),
        "inplace = 0",
    ),
    (lambda: from_msccl(two(S, "")), "sends 1 times to gpu 1 .* receives 0 times"),
    (lambda: from_msccl(two(R + S, R + S)), r"gpu \d tb 0 step 0: deadlock"),
    (
        lambda: from_msccl(two(S, line("r", 1))),
        "gpu 1 tb 0 step 0: chunk 0 of gpu 0 tb 0 step 0 lands at 1",
    ),
    (
        lambda: from_msccl(two(S, R.replace('"i"', '"s"'))),
        "gpu 1 tb 0 step 0: buffer 's'",
    ),
    (lambda: from_msccl(two(line("re", 0), "")), "step 0: type 're' is none of"),
    (
        # as in a public report on sums that come out wrong: a copy inside the array
        lambda: from_msccl(two(line("cpy", 0).replace('dstoff="0"', 'dstoff="2"'), "")),
        "a copy to another place",
    ),
    (lambda: from_msccl(two(line("s", 0, 7, 3), R)), "waits for tb 7 step 3"),
)


def test_another_collective_is_no_silent_sum():
    with pytest.raises(UnknownName, match="unknown coll"):
        from_msccl(two(S, R).replace("allreduce", "alltoall"))
