"""The one loop: arrivals, ends of steps, and plans, in the order of time.

At one time requests arrive first, then steps end, then machines plan; machines in the
order of their numbers. So an answer does not depend on how many steps are passed over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from .changes import Watcher
from .machine import Machine
from .pool import Held
from .request import Done, Request
from .rows import Router

ARRIVES, ENDS, CHANGES = range(3)  # what happens first at one time
LOST = 20_000  # failures under which no request ends, before a run is given up


@dataclass(eq=False, repr=False)
class Run:
    """Machines, a router, and everything that is still to happen.

    - ``machines``: by their numbers
    - ``crossing``: nanoseconds that a prompt's cache takes from machine to machine
    - ``watchers``: of machines that come and go
    """

    machines: Sequence[Machine]
    router: Router
    crossing: Callable[[Request], int]
    watchers: Sequence[Watcher] = ()

    def __post_init__(self) -> None:
        self.events: list[tuple[int, int, int, int, object]] = []
        # Where no machine has a slot: who is to be read, and who only writes on.
        self.done: dict[int, Done] = {}  # by place in the traffic
        self.lines: dict[bool, deque[Request]] = {True: deque(), False: deque()}
        self.turns = {True: 0, False: 0}  # by whether prompts are read there
        self.number = 0  # of an event: the order of what is alike
        self.inside = self.area = self.now = 0
        self.on = self.spent = 0  # machines that are up, and their time
        self.at_last = 0  # requests that nobody had let in at the last arrival
        self.touched: set[int] = set()
        self.links = [0] * len(self.machines)  # until when each is busy
        self.lost = 0  # failures with requests since the last one ended

    def push(self, time: int, kind: int, index: int, what: object) -> None:
        """Something will happen."""
        self.number += 1
        order = index if kind == ENDS else self.number
        heappush(self.events, (time, kind, order, self.number, what))

    def run(self, traffic: Iterable[Request]) -> None:
        """Serve all, until the last one is done."""
        arriving = iter(traffic)
        for watcher in self.watchers:
            watcher.begin(self)
        self.on = sum(machine.up for machine in self.machines)
        coming = next(arriving, None)
        events = self.events
        while coming is not None or self.inside:
            if coming is None:
                now = events[0][0]
            elif not events or coming.arrival <= events[0][0]:
                now = coming.arrival
            else:
                now = events[0][0]
            self.area += self.inside * (now - self.now)
            self.spent += self.on * (now - self.now)
            self.now = now
            while coming is not None and coming.arrival == now:
                self.inside += 1
                self._route(coming, True)
                for watcher in self.watchers:
                    watcher.arrived(self)
                coming = next(arriving, None)
                if coming is None:
                    self.at_last = self.waiting()
            while events and events[0][0] == now:
                _, kind, order, _, what = heappop(events)
                if kind != ENDS:
                    assert callable(what)
                    what()
                elif self.machines[order].version == what:
                    self._end(self.machines[order])
            self._plan()

    def waiting(self) -> int:
        """Requests that nobody has let in."""
        lines = sum(map(len, self.lines.values()))
        return lines + sum(len(each.waiting) for each in self.machines)

    def _end(self, machine: Machine) -> None:
        """Steps of a machine are over."""
        machine.version = 0
        done, parted = machine.end(self.now)
        self.touched.add(machine.index)
        self.inside -= len(done)
        self.lost = 0 if done else self.lost
        for request in done:
            self.done[request.place] = request.done()
        for request in parted:
            self._part(machine, request)
        if done or parted:
            self._hand_out()
        for watcher in self.watchers:
            watcher.ended(self, machine)

    def change(self, time: int, what: Callable[[], None]) -> None:
        """Something that happens to machines."""
        self.push(max(time, self.now), CHANGES, 0, what)

    def stop(self, machine: Machine) -> None:
        """It is down; its requests go elsewhere."""
        lost = machine.stop(self.now)
        machine.version, machine.up = 0, False
        self.on -= 1
        self.lost += bool(lost)
        if self.lost > LOST:
            raise ValueError(
                f"failures: {LOST:,} came before any request ended; no machine is up "
                "for as long as one takes"
            )
        for request in lost:
            self._route(request, True)

    def start(self, machine: Machine) -> None:
        """It is up, and empty."""
        if machine.up:
            return
        machine.up = True
        self.on += 1
        self._hand_out()

    def _part(self, machine: Machine, request: Request) -> None:
        """Its cache goes to another machine, after those before it on the link."""
        began = max(self.now, self.links[machine.index])
        arrives = self.links[machine.index] = began + self.crossing(request)
        life = machine.lives

        def arrived() -> None:
            whole = machine.lives == life
            if whole:
                machine.leave(request, request.tokens - 1)
                self.touched.add(machine.index)
            request.ready, request.held = whole, Held()
            self._route(request, not whole)

        self.push(arrives, ARRIVES, machine.index, arrived)

    def _route(self, request: Request, reads: bool) -> None:
        """To a machine of those that read prompts, or that write on, or in line."""
        if self.lines[reads] or not self._placed(request, reads):
            self.lines[reads].append(request)

    def _placed(self, request: Request, reads: bool) -> bool:
        machines = [
            each
            for each in self.machines
            if each.up and (each.role.reads if reads else each.role.writes)
        ]
        if self.router.holds:
            machines = [each for each in machines if each.load < each.limits.max_batch]
        if not machines:
            return False
        if self.router.looks:
            for machine in machines:
                machine.settle(self.now)
        chosen = self.router.choose(machines, request, self.turns[reads])
        self.turns[reads] += 1
        if chosen.join(request, self.now):
            self._expect(chosen)
        self.touched.add(chosen.index)
        return True

    def _hand_out(self) -> None:
        """Slots came free: both lines in their order, as far as they last."""
        for reads, line in self.lines.items():
            while line and self._placed(line[0], reads):
                line.popleft()

    def _expect(self, machine: Machine) -> None:
        """The end of the steps under way."""
        self.number += 1
        machine.version = self.number
        order = (machine.until, ENDS, machine.index, self.number, self.number)
        heappush(self.events, order)

    def _plan(self) -> None:
        """Machines that are between two steps begin the next."""
        touched = self.touched
        if not touched:
            return
        for index in sorted(touched) if len(touched) > 1 else touched:
            machine = self.machines[index]
            if machine.up and not machine.version and machine.plan(self.now):
                self._expect(machine)
        self.touched = set()
