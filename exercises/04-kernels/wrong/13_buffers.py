# ---- loads_only: A buffer stays taken until its tile has been multiplied
def pace(load, latency, multiply, buffers):
    return max(load, multiply, (load + latency) / buffers)


# ---- no_units: No number of buffers beats the slower of the two units
def pace(load, latency, multiply, buffers):
    return (load + latency + multiply) / buffers


# ---- rounded_down: You round down
def enough(load, latency, multiply):
    return (load + latency + multiply) // max(load, multiply)


# ---- by_products: Where loads take longer than products
def enough(load, latency, multiply):
    return math.ceil((load + latency + multiply) / multiply)


# ---- steady: a loop begins with a load that nothing hides
def busy(load, latency, multiply, buffers, tiles):
    return multiply / pace(load, latency, multiply, buffers)


# ---- one_operand: A buffer holds a tile of each operand
def deepest(room, rows, columns, buffers, width):
    return room // (buffers * max(rows, columns) * width * 16) * 16
