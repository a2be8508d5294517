"""The loop of the DRAM channel: which command is issued when.

Each turn it asks, for every waiting request, which command it needs next and from
which clock on it may be issued, takes the earliest, and goes to that clock. Between
commands nothing is stepped through. Compiled by numba where it is installed; on plain
lists the same function gives the same answer.
"""

from __future__ import annotations

from typing import Any

from .parts import Clocks

ACT, PRE, READ, WRITE, REF = range(5)
COLUMN = (READ, WRITE)
NEVER = 1 << 60


def loop(
    c: Clocks,
    bank: Any,
    row: Any,
    write: Any,
    arrival: Any,
    window: int,
    road: int,
    queue: int,
    in_order: bool,
    closes: bool,
    kind: Any,
    cycle: Any,
    where: Any,
    request: Any,
    outcome: Any,
    entered: Any,
    finished: Any,
) -> int:
    """Serve all requests; the number of commands, or -1 when they do not fit.

    ``bank``, ``row``, ``write`` and ``arrival`` are one entry a request, in order.
    Filled in: for each command its ``kind``, ``cycle``, bank (``where``; -1 for all
    of a set) and ``request`` (-1 for none); for each request its ``outcome`` (0 the
    row was open, 1 the bank was closed, 2 another row was open), the clock it
    ``entered`` the queue, and the clock its last data ``finished``.
    """
    n, room = len(bank), len(kind)
    banks = c.groups * c.banks
    opened = [-1] * banks  # the row of each bank
    act_at, pre_at = [0] * banks, [0] * banks
    read_at, write_at = [0] * banks, [0] * banks
    group_act, group_read, group_write = [0] * c.groups, [0] * c.groups, [0] * c.groups
    any_act, any_read, any_write, any_ref, any_pre = 0, 0, 0, 0, 0
    each = banks // c.sids
    sid_read = [0] * c.sids  # reads of a stack id wait for those of the others
    four = [-c.faw] * 4  # the last four activates, a ring
    oldest = 0
    row_bus, column_bus = 0, 0
    waiting = [0] * 0
    reads, writes, draining = 0, 0, False
    wanted = [False] * banks
    due, turn, pending = (c.refi if c.refi > 0 else NEVER), 0, False
    now, enter, served, issued = 0, 0, 0, 0
    ends = [0] * n  # in the order of service

    while served < n:
        # Requests enter in order, while there is room and their time has come.
        next_entry = NEVER
        while enter < n:
            is_write = bool(write[enter])
            held = len(waiting) if in_order else (writes if is_write else reads)
            if held >= queue:
                break
            at = arrival[enter]
            if window > 0 and enter >= window:
                if served <= enter - window:
                    break  # it is asked for when an earlier one has come back
                at = max(at, ends[enter - window] + road)
            if at > now:
                next_entry = at
                break
            waiting.append(enter)
            entered[enter] = now
            if is_write:
                writes += 1
            else:
                reads += 1
            enter += 1
        # Writes wait until their queue is full, or nothing else is to be done.
        if draining:
            draining = writes > 0
        else:
            draining = writes >= queue or (reads == 0 and writes > 0)

        for i in range(banks):
            wanted[i] = False
        for r in waiting:
            if bool(write[r]) == draining and opened[bank[r]] == row[r]:
                wanted[bank[r]] = True
        best, choice, what = NEVER, -1, ACT
        for i in range(len(waiting)):
            r = waiting[i]
            is_write = bool(write[r])
            if not in_order and is_write != draining:
                continue
            b = bank[r]
            g = b // c.banks
            if pending and b % c.sets == turn:
                if in_order:
                    break
                continue
            if opened[b] == row[r]:
                does = WRITE if is_write else READ
                if is_write:
                    at = max(write_at[b], group_write[g], any_write, column_bus)
                else:
                    at = max(read_at[b], group_read[g], any_read, column_bus)
                    at = max(at, sid_read[b // each])
            elif opened[b] < 0:
                does = ACT
                at = max(act_at[b], group_act[g], any_act, four[oldest] + c.faw)
                at = max(at, row_bus)
            elif wanted[b] and not in_order:
                continue  # somebody still reads the open row
            else:
                does = PRE
                at = max(pre_at[b], any_pre, row_bus)
            at = max(at, now)
            # The earliest; of those a hit first, of those the oldest.
            if at < best or (at == best and what < READ <= does):
                best, choice, what = at, i, does
            if in_order:
                break  # only the oldest is looked at

        # A refresh that is due comes before the others of its clock.
        refresh_at, closing = NEVER, -1
        if pending:
            last, ready = 0, max(any_ref, row_bus, now)
            for b in range(turn, banks, c.sets):
                ready = max(ready, act_at[b])
                if opened[b] >= 0:
                    last = max(last, pre_at[b])
                    if closing < 0 or pre_at[b] < pre_at[closing]:
                        closing = b
            if closing < 0:
                refresh_at = ready
            else:  # one command closes all banks, or the banks are closed one by one
                refresh_at = max(last if c.sets == 1 else pre_at[closing], row_bus, now)
                refresh_at = max(refresh_at, any_pre)

        if next_entry <= min(best, refresh_at):
            if not pending and next_entry > due:
                pending, now = True, max(now, due)
            else:
                now = max(now, next_entry)
            continue
        if not pending and best >= due:
            pending, now = True, max(now, due)
            continue
        if issued >= room:
            return -1

        if refresh_at <= best:
            now = refresh_at
            cycle[issued], request[issued] = now, -1
            if closing >= 0:
                kind[issued] = PRE
                where[issued] = -1 if c.sets == 1 else closing
                any_pre = now + c.ppd
                for b in range(turn, banks, c.sets):
                    if opened[b] >= 0 and (c.sets == 1 or b == closing):
                        opened[b] = -1
                        act_at[b] = max(act_at[b], now + c.rp)
            else:
                kind[issued], where[issued] = REF, -1 if c.sets == 1 else turn
                for b in range(turn, banks, c.sets):
                    act_at[b] = now + c.rfc
                any_act = max(any_act, now + c.rrefd)
                any_ref = now + max(1, c.rrefd)
                turn = (turn + 1) % c.sets
                due += c.refi
                pending = False
            issued += 1
            row_bus = now + 1
            if not c.dual:
                column_bus = now + 1
            continue

        now = best
        r = waiting[choice]
        b = bank[r]
        g = b // c.banks
        kind[issued], cycle[issued] = what, now
        where[issued], request[issued] = b, r
        issued += 1
        if what >= READ:
            column_bus = now + 1
            if not c.dual:
                row_bus = now + 1
        else:
            row_bus = now + 1
            if not c.dual:
                column_bus = now + 1
            outcome[r] = max(outcome[r], 1 if what == ACT else 2)
        if what == ACT:
            opened[b] = row[r]
            act_at[b] = now + c.rc
            read_at[b], write_at[b] = now + c.rcd, now + c.rcdw
            pre_at[b] = now + c.ras
            group_act[g] = now + c.rrd_l
            any_act = max(any_act, now + c.rrd_s)
            any_ref = max(any_ref, now + c.rrd_s)
            four[oldest] = now
            oldest = (oldest + 1) % 4
        elif what == PRE:
            opened[b] = -1
            act_at[b] = max(act_at[b], now + c.rp)
            any_pre = now + c.ppd
        else:
            if what == READ:
                group_read[g] = now + c.ccd_l
                any_read = max(any_read, now + c.ccd_s)
                for s in range(c.sids):
                    if s != b // each:
                        sid_read[s] = max(sid_read[s], now + c.ccd_r)
                any_write = max(any_write, now + c.rtw)
                pre_at[b] = max(pre_at[b], now + c.rtp)
                end = now + c.cl + c.bl
                reads -= 1
            else:
                end = now + c.cwl + c.bl
                group_write[g] = now + c.ccd_l_wr
                any_write = max(any_write, now + c.ccd_s)
                group_read[g] = max(group_read[g], end + c.wtr_l)
                any_read = max(any_read, end + c.wtr_s)
                pre_at[b] = max(pre_at[b], end + c.wr)
                writes -= 1
            if closes:  # the bank closes itself as soon as it may
                opened[b] = -1
                act_at[b] = max(act_at[b], pre_at[b] + c.rp)
            waiting.pop(choice)
            ends[served] = end
            finished[r] = end
            served += 1
    return issued
