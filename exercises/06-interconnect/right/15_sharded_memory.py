# ---- parts: by the package's own list and closed form
from stacklib.interconnect.sharding.held import shard_bytes
from stacklib.interconnect.sharding.parts import count_held


def held(shapes, ranks, zero):
    table = {str(place): shape for place, shape in enumerate(shapes)}
    return count_held(table, ranks, 0, zero).total


def sent(parameters, ranks, zero):
    return shard_bytes(parameters, ranks, zero)
