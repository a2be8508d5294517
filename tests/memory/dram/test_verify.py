"""The checker of command lists: what is cut short, planted or left out is named."""

import random

import pytest

from stacklib.memory.dram import channel as dram_channel
from stacklib.memory.dram import rates as dram
from stacklib.memory.dram.channel import Command, DramChannel
from stacklib.memory.dram.parts import dram_part
from stacklib.memory.dram.verify import TimingViolation, check_commands, verify

from .places import PARTS, burst, one_bank

# A timing the simulator is told shortened by one clock -> what the checker calls it.
NAMES = {
    "rcd": "tRCD", "rcdw": "tRCDWR", "rp": "tRP", "ras": "tRAS", "rtp": "tRTP",
    "wr": "tWR", "ccd_s": "tCCD_S", "ccd_l": "tCCD_L", "ccd_l_wr": "tCCD_L_WR",
    "rrd_s": "tRRD_S", "rrd_l": "tRRD_L", "faw": "tFAW", "wtr_s": "tWTR_S",
    "wtr_l": "tWTR_L", "rtw": "tRTW", "rfc": "tRFC", "rrefd": "tRREFD",
    "ccd_r": "tCCD_R", "ppd": "tPPD",
}  # fmt: skip


def commands_of(clocks, where, stores, refresh_part):
    """Commands of the simulator with these clocks, on one trace."""
    channel = DramChannel(refresh_part, queue=16)
    banks, rows = channel._places(where)
    given_ = (banks, rows, stores, [0] * len(where))
    log, _ = dram_channel._run(clocks, given_, (0, 0, 16, False, False))
    for kind, cycle, bank, request in zip(*log, strict=True):
        name = dram_channel.KINDS[kind]
        yield Command(name, cycle, bank, rows[request] if name == "ACT" else -1, 0)


def planted_traces(name):
    """Traces among which each timing decides something."""
    draw, b = random.Random(3), burst(name)
    wild = [draw.randrange(1 << 18) * b for _ in range(600)]
    near = [draw.randrange(64) * b for _ in range(600)]
    mixed = [draw.random() < 0.5 for _ in range(600)]
    row = one_bank(name, 60, 8)
    for where in (wild, near, row, [b * i for i in range(600)]):
        yield where, [False] * len(where)
        yield where, (mixed * 2)[: len(where)]
        yield where, [True] * len(where)


@pytest.mark.rows("field", NAMES)
def test_a_timing_that_was_cut_short_is_named(field):
    # A shorter gap between bursts also shows as two of them on the data bus.
    wanted = {NAMES[field], "data" if field == "ccd_s" else NAMES[field]}
    assert any(named in wanted for named in complaints(field))


def complaints(field, names=("ddr4_3200", "ddr5_6400", "hbm3", "gddr6")):
    """What the checker calls the first fault of each trace served too early."""
    for name in names:
        refresh = "some" if field == "rrefd" and name == "hbm3" else "all"
        clocks = dram_part(name).clocks(refresh)
        if getattr(clocks, field) < 2:
            continue
        cut = clocks._replace(**{field: getattr(clocks, field) - 1})
        if field == "rfc":  # a whole refresh gone, else something else still waits
            cut = cut._replace(rfc=clocks.rfc // 2)
        if field == "ras":
            cut = cut._replace(rc=clocks.rc - 1)
        for where, stores in planted_traces(name):
            try:
                check_commands(commands_of(cut, where, stores, name), clocks)
            except TimingViolation as wrong:
                yield str(wrong).split()[0].rstrip(":")


@pytest.mark.rows("name", PARTS)
def test_four_activates_are_seen_where_they_bind_and_cannot_be_elsewhere(name):
    c = dram_part(name).clocks("none")
    named = set(complaints("faw", [name]))
    assert named == ({"tFAW"} if c.faw > 4 * c.rrd_s else set())
    least = dram.random_interval(c.bl, c.rc, c.groups * c.banks, c.rrd_s, c.faw)
    rule = dram.binding_rule(c)
    assert getattr(c, {"tFAW": "faw", "tRRD_S": "rrd_s", "bus": "bl"}[rule]) == (
        4 * least if rule == "tFAW" else least
    )


def legal():
    """A read of row 5 and one of row 6 of bank 0, as early as DDR4 allows."""
    c = dram_part("ddr4_3200").clocks("none")
    return c, [
        Command("ACT", 0, 0, 5, -1),
        Command("READ", c.rcd, 0, -1, 0),
        Command("PRE", c.ras, 0, -1, -1),
        Command("ACT", c.rc, 0, 6, -1),
        Command("READ", c.rc + c.rcd, 0, -1, 1),
    ]


@pytest.mark.rows(
    ("at", "change", "message"),
    [
        (1, {"cycle": 10}, "tRCD of 22"),
        (2, {"cycle": 51}, "tRAS of 52"),
        (3, {"cycle": 73}, "tRC of 74"),
        (1, {"bank": 1}, "bank is closed"),
        (3, {"cycle": 40}, "command bus is taken"),
        (2, {"bank": 3}, "bank is open"),
        (2, {"kind": "REF"}, "bank 0 is open"),
        (2, {"kind": "NOP"}, "no command 'NOP'"),
    ],
)
def test_a_planted_command_is_refused(at, change, message):
    clocks, listed = legal()
    assert check_commands(listed, clocks).commands == 5
    listed[at] = listed[at]._replace(**change)
    with pytest.raises(TimingViolation, match=message):
        check_commands(listed, clocks)


def test_a_request_served_from_the_wrong_row_or_never_is_refused():
    served = DramChannel("ddr4-3200").run([0, 1 << 20])
    assert verify(served)
    served.banks[1] = (served.banks[1] + 1) % 16  # the log still has the other bank
    with pytest.raises(TimingViolation, match="request 1"):
        verify(served)
    twice = DramChannel("ddr4-3200").run([0, 64])
    twice._log[3][-1] = 0
    with pytest.raises(TimingViolation, match="request"):
        verify(twice)


# -- refreshes ------------------------------------------------------------------


def refreshes(name, kind, count, turn=lambda k, sets: k % sets):
    """Refreshes alone, each when it is due: clocks and commands."""
    c = dram_part(name).clocks(kind)
    banks = [-1 if c.sets == 1 else turn(k, c.sets) for k in range(count)]
    at = [c.refi * (k + 1) for k in range(count)]
    return c, [Command("REF", t, b, -1, -1) for t, b in zip(at, banks, strict=True)]


REFRESHED = [
    (name, kind)
    for name in PARTS
    for kind in ("all", "some")
    if kind == "all" or dram_part(name).refreshed != "all"
]


@pytest.mark.rows(("name", "kind"), REFRESHED)
def test_a_refresh_left_out_is_missed_when_the_next_is_due(name, kind):
    sets = dram_part(name).clocks(kind).sets
    c, listed = refreshes(name, kind, 3 * sets + 2)
    whole = check_commands(listed, c)
    assert whole.owed == 0 and min(whole.refreshed) == len(listed) // sets
    for gone in (0, 1, sets, 2 * sets + 1):
        with pytest.raises(TimingViolation, match="2 refreshes are owed"):
            check_commands(listed[:gone] + listed[gone + 1 :], c)
    late = [*listed[:-1], listed[-1]._replace(cycle=listed[-1].cycle + c.refi - 1)]
    assert check_commands(late, c).owed == 0
    # The last one cannot be missed by what follows: the verdict says it.
    after = [Command("PRE", listed[-1].cycle + c.refi - 1, 0, -1, -1)]
    assert check_commands(listed[:-1] + after, c).owed == 1


@pytest.mark.rows(("name", "kind"), REFRESHED)
def test_a_list_without_any_refresh_is_refused_at_its_second(name, kind):
    c = dram_part(name).clocks(kind)
    assert check_commands([Command("ACT", 2 * c.refi - 1, 0, 0, -1)], c).owed == 1
    with pytest.raises(TimingViolation, match="tREFI: 2 refreshes are owed"):
        check_commands([Command("ACT", 2 * c.refi, 0, 0, -1)], c)


@pytest.mark.rows(("name", "kind"), [r for r in REFRESHED if r[1] == "some"])
def test_refreshes_of_one_bank_do_not_pay_for_another(name, kind):
    c, listed = refreshes(name, kind, 100, turn=lambda k, sets: k % (sets // 2))
    with pytest.raises(TimingViolation, match="refreshes are owed"):
        check_commands(listed, c)
    c, listed = refreshes(name, kind, 100, turn=lambda k, sets: sets - 1 - k % sets)
    assert check_commands(listed, c).owed == 0  # the order in a round is free


def test_as_many_refreshes_may_be_put_off_as_is_said():
    c, listed = refreshes("ddr4-3200", "all", 20)
    held = [
        r._replace(cycle=max(r.cycle, c.refi * 9 + c.rfc * k))
        for k, r in enumerate(listed)
    ]
    assert check_commands(held, c, postponed=8).owed == 0
    with pytest.raises(TimingViolation, match="refreshes are owed"):
        check_commands(held, c, postponed=7)


def test_a_verdict_says_which_rows_are_still_to_be_renewed():
    rows = int(dram_part("ddr4-3200").refreshes.si)
    c, listed = refreshes("ddr4-3200", "all", rows)
    whole = check_commands(listed, c)
    assert (whole.left(rows), whole.left(rows + 1)) == (0, 1)
    assert verify(DramChannel("ddr4-3200").run([0])).left(rows) == rows
