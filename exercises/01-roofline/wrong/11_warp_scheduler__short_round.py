# diagnosis: While a warp works the round goes on
def warps_needed(work, latency):
    return latency / (1 + work)


def cycles(warps, work, latency, rounds):
    return rounds * max(latency + work, warps * (1 + work))
