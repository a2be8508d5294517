"""Post to a ring in the right order.

level: build

Suppose a send queue that many warps of a GPU share: a ring of `queue.slots` slots with
counters that only grow. The element of place i stands in slot i modulo the slots. Write
`post(queue, elements)`, with which lane 0 of a warp posts the elements of its lanes:

- `queue.reserve(count)`: an atomic addition; gives your first place.
- `queue.sent()`: so many places the port has read. Until the element that stands in a
  slot has been sent, its slot is not free.
- `queue.write(slot, element)`: puts an element into a slot, 0 to slots - 1.
- `queue.ready()`: up to there all places are written, by whichever warp.
- `queue.publish(place)`: says that all places before this one are written.
- `queue.ring(place)`: the doorbell: the port may now read all places before this one.

The doorbell crosses the bus, so a post rings once for all of its elements, and reserves
once. Other warps post at the same time, so `sent()` and `ready()` may change from one
call to the next: wait by calling them again. A post never has more elements than the
ring has slots. `post` gives back its first place.

hint: between two of your calls another warp may make all of its own. Which of yours
are safe only when your slots are free, and which only when all before are written?
"""

from stacklib.grading import expect

# ---- your answer ----


def post(queue, elements):
    """Post the elements of a warp; the first place."""
    base = queue.reserve(len(elements))
    head = base + len(elements)
    while head > queue.sent() + queue.slots:
        pass  # the port has not read the slots' last elements
    for lane, element in enumerate(elements):
        queue.write((base + lane) % queue.slots, element)
    while queue.ready() != base:
        pass  # somebody before us still writes
    queue.publish(head)
    queue.ring(head)
    return base


# ---- tests ----

PATIENCE = 5000  # reads of a counter in one post


class Fault(Exception):
    """What the port or another warp saw."""


class Machine:
    """A ring with a port that is slow, and another warp that is slower."""

    def __init__(self, slots, start, other, slow):
        self.slots, self.slow = slots, slow
        self.reserved = self.published = self.rung = self.read = start
        self.held = {}  # by place
        self.reads = self.bells = self.atomics = 0
        self.other, self.others = other, []
        self.got = []

    def reserve(self, count=1):
        self.atomics += 1
        if self.other:  # another warp was faster by a moment, and writes slowly
            self.others += [self.reserved + k for k in range(self.other)]
            self.reserved += self.other
            self.other = 0
        base, self.reserved = self.reserved, self.reserved + count
        return base

    def _pass_time(self):
        """A read of a counter takes a while, in which the others go on."""
        self.reads += 1
        if self.reads > PATIENCE:
            raise Fault("waits")
        if self.reads % self.slow:
            return
        if self.others and self.others[0] < self.read + self.slots:
            place = self.others.pop(0)
            self.held[place] = ("other", place)
            if not self.others:
                self.published = max(self.published, place + 1)
                self.rung = max(self.rung, place + 1)
        self.drain(1)

    def drain(self, count):
        while count and self.read < self.rung:
            if self.read not in self.held:
                raise Fault("early")
            self.got.append(self.held.pop(self.read))
            self.read += 1
            count -= 1

    def sent(self):
        self._pass_time()
        return self.read

    def ready(self):
        self._pass_time()
        return self.published

    def write(self, slot, element):
        slot = expect.whole(slot)
        if not 0 <= slot < self.slots:
            raise Fault("slot")
        if any(place % self.slots == slot for place in self.held):
            raise Fault("over")
        mine = range(self.read, self.reserved)
        free = [p for p in mine if p % self.slots == slot and p not in self.others]
        if not free:
            raise Fault("foreign")
        self.held[free[0]] = element

    def publish(self, place):
        place = expect.whole(place)
        if self.others and place > self.others[0]:
            raise Fault("passed")
        self.published = max(self.published, place)

    def ring(self, place):
        place = expect.whole(place)
        self.bells += 1
        if self.others and place > self.others[0]:
            raise Fault("passed")
        if any(p not in self.held for p in range(self.rung, place)):
            raise Fault("early")
        if place > self.published:
            raise Fault("untold")
        self.rung = max(self.rung, place)


SAYS = {
    "waits": "You wait for something that never comes: say what is written before you "
    "wait for others, and wait for your own first place only.",
    "early": "The doorbell rings before the elements are written: the port reads what "
    "stood in the slots before.",
    "slot": "A slot is 0 to slots - 1: a place wraps round, take it modulo the slots.",
    "over": "You write over an element that was not sent yet: after the wrap, wait "
    "until the port has read what stands in your slots.",
    "foreign": "You write into a slot of which you have no place.",
    "passed": "You tell of places that another warp has reserved before you and not "
    "written yet: wait until all before yours are ready.",
    "untold": "The doorbell rings for places that nobody has published.",
}
# slots, first place, places of another warp before ours, reads per step, sizes of posts
CASES = {
    "one post": (8, 0, 0, 1, (4,)),
    "the ring is filled": (8, 0, 0, 1, (8,)),
    "posts that wrap round": (8, 5, 0, 1, (3, 4, 4, 6, 8)),
    "another warp is before you": (16, 0, 3, 4, (5, 5)),
    "both, and a slow port": (8, 6, 4, 7, (4, 6, 5, 8, 1)),
    "a whole warp": (64, 40, 0, 1, (32, 32)),
}


def run(slots, start, other, slow, sizes):
    """Posts one after the other; what was sent, and how often one rang."""
    machine = Machine(slots, start, other, slow)
    number, bases, expected = 0, [], []
    for size in sizes:
        machine.reads = 0
        elements = [f"element {number + k}" for k in range(size)]
        number += size
        expected += elements
        bases.append(expect.whole(post(machine, list(elements))))
    machine.drain(1 << 20)
    mine = [one for one in machine.got if not isinstance(one, tuple)]
    return machine, bases, mine, expected


def test_post():
    for name, case in CASES.items():
        try:
            _, bases, mine, expected = run(*case)
        except Fault as fault:
            raise expect.Mistake(f"{name}: {SAYS[str(fault)]}") from None
        if mine != expected and sorted(mine) == sorted(expected):
            raise expect.Mistake(f"{name}: elements are sent in another order")
        if mine != expected:
            lost = len(expected) - len(mine)
            raise expect.Mistake(
                f"{name}: {lost} of {len(expected)} elements are never sent: the "
                "doorbell has to ring for the place behind your last one"
            )
        first = [case[1] + case[2] + sum(case[4][:k]) for k in range(len(bases))]
        if bases != first:
            raise expect.Mistake(f"{name}: the first places are {first}, not {bases}")


def test_once_for_all():
    machine, bases, _, expected = run(*CASES["a whole warp"])
    if machine.atomics > len(bases):
        raise expect.Mistake(
            f"{machine.atomics} reservations in {len(bases)} posts: lane 0 reserves "
            "for all lanes by one addition"
        )
    if machine.bells > len(bases):
        raise expect.Mistake(
            f"{machine.bells} doorbells in {len(bases)} posts: each crosses the bus, "
            "ring once for all lanes"
        )
    expect.reading("elements sent for one doorbell", len(expected) / machine.bells)
