# ---- room_by_room: each element waits for its own slot
def post(queue, elements):
    base = queue.reserve(len(elements))
    for place, element in enumerate(elements, base):
        while place >= queue.sent() + queue.slots:
            continue
        queue.write(place % queue.slots, element)
    head = base + len(elements)
    while queue.ready() < base:
        continue
    queue.publish(head)
    queue.ring(head)
    return base


# ---- last_lane_first: written in another order, and told as one
import itertools


def _until(true):
    return next(n for n in itertools.count() if true())


def post(queue, elements):
    count = len(elements)
    base = queue.reserve(count)
    _until(lambda: base + count - queue.sent() <= queue.slots)
    for lane in reversed(range(count)):
        queue.write((base + lane) & (queue.slots - 1), elements[lane])
    _until(lambda: queue.ready() == base)
    for tell in (queue.publish, queue.ring):
        tell(base + count)
    return base
