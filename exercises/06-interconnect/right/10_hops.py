# ---- walked: every frame over every wire
def _walk(size, frame, hops, rate, latency, known, cable):
    ends = [0.0] * (hops + 1)
    for _ in range(size // frame):
        ready = 0.0
        for port in range(hops + 1):
            start = max(ready, ends[port])
            ends[port] = start + frame / rate
            ready = start + cable + known / rate + latency
    return ends[-1] + cable


def cut_through(size, frame, hops, rate, latency, header, cable):
    return _walk(size, frame, hops, rate, latency, header, cable)


def stored(size, frame, hops, rate, latency, header, cable):
    return _walk(size, frame, hops, rate, latency, frame, cable)


# ---- by_parts: what each hop adds, summed up
def cut_through(size, frame, hops, rate, latency, header, cable):
    return sum([size / rate, cable, *[latency + header / rate + cable] * hops])


def stored(size, frame, hops, rate, latency, header, cable):
    frames = size // frame
    return sum([(frames + hops) * frame / rate, hops * latency, cable * (1 + hops)])


def behind(load, size, rate):
    busy, idle = load, 1 - load
    return size / rate / 2 * busy / idle


def why(seconds, **given):
    late = stored(**given)
    if seconds * 9 > late * 10:
        return "queue"
    return ["cut", "stored"][2 * seconds > late + cut_through(**given)]
