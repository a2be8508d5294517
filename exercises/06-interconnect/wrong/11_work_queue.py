# ---- bell_first: The doorbell rings before the elements are written
def post(queue, elements):
    base = queue.reserve(len(elements))
    head = base + len(elements)
    while head > queue.sent() + queue.slots:
        pass
    while queue.ready() != base:
        pass
    queue.publish(head)
    queue.ring(head)
    for lane, element in enumerate(elements):
        queue.write((base + lane) % queue.slots, element)
    return base


# ---- each_lane: each crosses the bus, ring once for all lanes
def post(queue, elements):
    base = queue.reserve(len(elements))
    while base + len(elements) > queue.sent() + queue.slots:
        pass
    while queue.ready() != base:
        pass
    for lane, element in enumerate(elements):
        queue.write((base + lane) % queue.slots, element)
        queue.publish(base + lane + 1)
        queue.ring(base + lane + 1)
    return base


# ---- no_room: You write over an element that was not sent yet
def post(queue, elements):
    base = queue.reserve(len(elements))
    for lane, element in enumerate(elements):
        queue.write((base + lane) % queue.slots, element)
    while queue.ready() != base:
        pass
    queue.publish(base + len(elements))
    queue.ring(base + len(elements))
    return base


# ---- not_in_turn: You tell of places that another warp has reserved before you
def post(queue, elements):
    base = queue.reserve(len(elements))
    while base + len(elements) > queue.sent() + queue.slots:
        pass
    for lane, element in enumerate(elements):
        queue.write((base + lane) % queue.slots, element)
    queue.publish(base + len(elements))
    queue.ring(base + len(elements))
    return base


# ---- no_wrap: A slot is 0 to slots - 1
def post(queue, elements):
    base = queue.reserve(len(elements))
    while base + len(elements) > queue.sent() + queue.slots:
        pass
    for lane, element in enumerate(elements):
        queue.write(base + lane, element)
    while queue.ready() != base:
        pass
    queue.publish(base + len(elements))
    queue.ring(base + len(elements))
    return base


# ---- each_reserves: lane 0 reserves for all lanes by one addition
def post(queue, elements):
    first = None
    for element in elements:
        base = queue.reserve(1)
        first = base if first is None else first
        while base + 1 > queue.sent() + queue.slots:
            pass
        queue.write(base % queue.slots, element)
        while queue.ready() != base:
            pass
        queue.publish(base + 1)
        queue.ring(base + 1)
    return first
