# diagnosis: Your warps run one after the other
def warps_needed(work, latency):
    return (latency + work) / (1 + work)


def cycles(warps, work, latency, rounds):
    return warps * rounds * (latency + work)
