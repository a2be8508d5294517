# diagnosis: The load takes a slot too
def warps_needed(work, latency):
    return (latency + work) / work


def cycles(warps, work, latency, rounds):
    return rounds * max(latency + work, warps * (1 + work))
