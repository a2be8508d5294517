"""Random streams, and a twin of the replay that goes through every cycle."""

from fractions import Fraction
from math import ceil, floor

from stacklib.gpu.issue.streams import KINDS, Recorder

NEAR = ("load_shared", "store_shared", "atomic_shared", "shuffle")
FAR = (
    *("load_global", "store_global", "load_local", "store_local"),
    *("async_copy", "bulk_copy", "atomic_global"),
)
FREE = [k for k in KINDS if k not in ("barrier", "arrive", "wait", "exit")]


def random_streams(rng, blocks=4, warps=5, length=14):
    """Blocks of warps of any instructions, with barriers and copies waited for."""
    tape = Recorder()
    for block in range(rng.randint(1, blocks)):
        count = rng.randint(1, warps)
        bars = [tape.event(count) for _ in range(rng.randint(0, 2))]
        for _ in range(count):
            tape.warp(block)
            place = _some(rng, tape, 0, length)
            for bar in bars:
                tape.add("barrier", arrive=bar, wait=bar, line=5)
                place = _some(rng, tape, place + 1, length)
    return tape.streams()


def _some(rng, tape, place, length):
    for _ in range(rng.randint(1, length)):
        kind, arrive = rng.choice(FREE), -1
        needs = rng.sample(range(place), min(place, rng.randint(0, 3)))
        if kind in ("async_copy", "bulk_copy") and rng.random() < 0.7:
            arrive = tape.event(1)
        request = _asks(rng, tape, kind)
        line = rng.randint(1, 9)
        tape.add(kind, needs, line=line, request=request, arrive=arrive)
        place += 1
        if arrive >= 0 and rng.random() < 0.6:
            tape.add("wait", wait=arrive, line=3)
            place += 1
    return place


def _asks(rng, tape, kind):
    if kind == "mma":
        return tape.ask(passes=rng.choice([1, 4, 8]))
    if kind in NEAR:
        turns = rng.choice([1, 2, 32]) if kind == "atomic_shared" else 0
        return tape.ask(passes=rng.choice([1, 1, 2, 32]), turns=turns)
    if kind in FAR:
        turns = rng.choice([1, 32]) if kind == "atomic_global" else 0
        l1, l2, memory = (rng.choice([0, 0, 1, 4, 40]) for _ in range(3))
        return tape.ask(rng.choice([1, 2, 8]), l1, l2, memory, turns)
    return -1


class Warp:
    """Where a warp stands in the twin."""

    def __init__(self, number, block, core, start):
        self.number, self.block, self.core = number, block, core
        self.at, self.free, self.branch, self.stored = 0, start, start, 0
        self.barrier, self.since, self.landed, self.waited = -1, None, 0, 0


class Twin:
    """The replay from its definition: every cycle, every warp, nothing skipped."""

    def __init__(self, streams, machine, resident, policy):
        self.s, self.m, self.policy = streams, machine, policy
        self.resident, self.cycle = resident, 0
        self.when, self.there = {}, {}
        self.arrived = {e: [] for e in range(len(streams.events))}
        self.free = {}
        self.servers = dict.fromkeys(("lsu", "l2", "memory", "atomic"), Fraction(0))
        self.queue = [[] for _ in range(machine.sub_cores)]
        self.stores = Fraction(0)
        self.flying, self.last = [], [[] for _ in range(machine.sub_cores)]
        self.warps, self.next_block, self.gone, self.ends = [], 0, [], {}
        self.stalls, self.end = {}, 0

    def tick(self, cycles):
        return Fraction(round(cycles * self.m.tick), self.m.tick)

    def run(self):
        while self.next_block < self.s.blocks or self.warps:
            self.start()
            for core in range(self.m.sub_cores):
                picked, held = [], self.held(core)
                for _ in range(self.m.slots):
                    warp = self.pick(core, picked)
                    if warp is None:
                        break
                    self.issue(warp)
                    picked.append(warp)
                self.charge(core, picked, held)
                if picked:
                    self.last[core] = [w.number for w in picked]
            self.cycle += 1
            assert self.cycle < 10**6
        return self

    def start(self):
        while self.next_block < min(self.s.blocks, self.resident + len(self.gone)):
            b = self.next_block
            begin = 0
            if b >= self.resident:
                begin = self.gone[b - self.resident] + self.m.block_start
            for number in range(self.s.warps):
                if self.s.block[number] == b:
                    here = [0] * self.m.sub_cores
                    for w in self.warps:
                        here[w.core] += 1
                    core = here.index(min(here))
                    self.warps.append(Warp(number, b, core, begin))
            self.next_block += 1

    def at(self, warp):
        return self.s.first[warp.number] + warp.at

    def way(self, i):
        return self.m.way(KINDS[self.s.kind[i]])

    def inputs(self, warp):
        """When the inputs are there, and which came last; None while unknown."""
        i, first = self.at(warp), self.s.first[warp.number]
        came = [(warp.free, "selected"), (warp.branch, "branch_resolving")]
        for need in self.s.needs[i]:
            if need >= 0:
                came.append((self.there[first + need], self.way(first + need).why))
        if self.way(i).route == "fence":
            came.append((warp.stored, "membar"))
        events = [warp.barrier]
        if self.s.wait[i] != self.s.arrive[i]:
            events.append(self.s.wait[i])
        for event in events:
            if event >= 0:
                if len(self.arrived[event]) < self.s.events[event]:
                    return None
                latest = max(t for t, _ in self.arrived[event])
                first_of = next(r for t, r in self.arrived[event] if t == latest)
                came.append((latest, first_of))
        best = came[0]
        for one in came[1:]:
            if one[0] > best[0]:
                best = one
        return best

    def blocked(self, warp):
        i = self.at(warp)
        way, now = self.way(i), self.cycle
        ports = [self.free.get((warp.core, p), 0) for p in way.ports]
        if ports and min(ports) >= now + 1:
            return True
        if way.queued and sum(t > now for t in self.queue[warp.core]) >= self.m.queue:
            return True
        if not way.counted:
            return False
        _, _, far, deep, _ = self.asks(i)
        under_way = sum(n for t, n in self.flying if t > now)
        return bool(far + deep and under_way and under_way + far + deep > self.m.misses)

    def asks(self, i):
        row = self.s.request[i]
        return (1, 0, 0, 0, 0) if row < 0 else self.s.requests[row]

    def pick(self, core, picked):
        able = []
        for warp in self.warps:
            if warp.core != core or warp in picked:
                continue
            came = self.inputs(warp)
            if came is None or came[0] > self.cycle or self.blocked(warp):
                continue
            able.append((came[0], warp))
        last = self.last[core]
        if self.policy == "lrr":
            after = last[-1] if last else -1
            able.sort(key=lambda x: (x[1].number <= after, x[1].number))
        elif self.policy == "gto":
            able.sort(key=lambda x: (x[1].number not in last, x[1].number))
        else:
            able.sort(key=lambda x: (x[1].number not in last, x[0], x[1].number))
        return able[0][1] if able else None

    def held(self, core):
        """Warps whose port is full, before anyone issues."""
        return [w for w in self.warps if w.core == core and self.blocked(w)]

    def add(self, reason, cycles=1):
        self.stalls[reason] = self.stalls.get(reason, 0) + cycles

    def charge(self, core, picked, held):
        """One reason for every warp of the sub-core in this cycle."""
        for warp in [w for w in self.warps if w.core == core]:
            if warp in picked:
                self.add("selected")
                self.leave(warp)
            elif self.cycle >= warp.free:
                came = self.inputs(warp)
                if came is None or came[0] > self.cycle:
                    warp.waited += 1
                    continue
                if warp.waited:
                    self.add(came[1], warp.waited)
                    warp.waited = 0
                if warp in held:
                    self.add(self.way(self.at(warp)).full)
                else:
                    self.add("not_selected")

    def leave(self, warp):
        warp.at += 1
        warp.free = self.cycle + 1
        if self.at(warp) < self.s.first[warp.number + 1]:
            return
        self.warps.remove(warp)
        self.add("drain", max(0, warp.landed - warp.free))
        self.ends[warp.block] = max(
            self.ends.get(warp.block, 0), warp.landed, warp.free
        )
        if not any(w.block == warp.block for w in self.warps):
            self.gone.append(self.ends[warp.block])

    def issue(self, warp):
        i, now = self.at(warp), self.cycle
        way, (_, why) = self.way(i), self.inputs(warp)
        if warp.waited:
            self.add(why, warp.waited)
            warp.waited = 0
        self.when[i] = now
        land = now + way.latency
        if way.ports:
            port = min(way.ports, key=lambda p: self.free.get((warp.core, p), 0))
            hold = self.tick(way.hold)
            if way.route == "mma":
                hold = self.asks(i)[0]
                land = max(land, now + hold + 1)
            begun = max(self.free.get((warp.core, port), 0), now)
            self.free[warp.core, port] = begun + hold
        if way.route in ("shared", "global", "store"):
            land = self.memory(warp, i, way)
        if way.route == "store":
            warp.stored = max(warp.stored, land)
        if way.drains:
            held = self.sent if way.drains == 2 else land
            warp.landed = max(warp.landed, held)
        self.there[i], self.end = land, max(self.end, land)
        warp.branch, warp.barrier = now + way.after, -1
        event = self.s.arrive[i]
        if event >= 0:
            gmma = "gmma" if way.route == "mma" else way.why
            self.arrived[event].append((land, gmma))
            if self.s.wait[i] == event:
                warp.barrier = event

    def serve(self, name, begun, count, each):
        start = max(self.servers[name], begun)
        self.servers[name] = start + count * self.tick(each)
        return start, self.servers[name] - self.tick(each)

    def memory(self, warp, i, way):
        passes, near, far, deep, turns = self.asks(i)
        m, begun, service = self.m, Fraction(self.cycle), Fraction(0)
        self.sent = 0
        if way.queued:
            service = passes * self.tick(m.lsu_pass)
            service = max(service, (near + far + deep) * self.tick(m.l1_sector))
            if way.route == "shared":
                service = max(service, turns * self.tick(m.shared_turn))
            begun = max(self.servers["lsu"], begun)
            self.servers["lsu"] = begun + service
            self.queue[warp.core].append(ceil(begun))
        if way.route == "shared":
            return ceil(begun + service) - 1 + way.latency
        if far + deep == 0:
            return ceil(begun + service) - 1 + m.l1_latency
        lines = 4 * min(passes, far + deep) if way.route == "store" else 0
        places = max(far + deep, lines)
        start, tail = self.serve("l2", begun, places, m.l2_sector)
        tail = max(tail, begun + service - 1)
        land = ceil(tail) + (m.l2_latency if far else 0)
        self.sent = ceil(tail) + m.l1_latency
        if deep:
            early = start - self.tick(m.burst)
            _, last = self.serve("memory", early, deep, m.memory_sector)
            took = m.l2_latency
            if way.route == "store":
                self.stores += deep * self.tick(m.memory_sector)
            else:
                share = self.stores / max(Fraction(1, m.tick), start, self.stores)
                took = m.memory_latency + floor(m.written_wait * share)
            land = max(land, ceil(max(last, tail)) + took)
            self.sent = ceil(max(last, tail)) + m.l1_latency
        if turns:
            _, last = self.serve("atomic", start, turns, m.global_turn)
            land = max(land, ceil(last) + m.l2_latency)
        if way.counted:
            self.flying.append((land, far + deep))
        return land
