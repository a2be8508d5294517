# ---- stores_all: A switch stores a frame, not the message
def stored(size, frame, hops, rate, latency, header, cable):
    return (hops + 1) * (size / rate + cable) + hops * latency


# ---- no_header: A switch has to read the header
def cut_through(size, frame, hops, rate, latency, header, cable):
    return size / rate + hops * latency + (hops + 1) * cable


# ---- one_cable_less: A message of n hops has n + 1 cables
def cut_through(size, frame, hops, rate, latency, header, cable):
    return size / rate + hops * (latency + header / rate + cable)


# ---- random_lengths: equal ones wait half as long
def behind(load, size, rate):
    return size / rate * load / (1 - load)


# ---- header_too: The header is part of the frame that is stored
def stored(size, frame, hops, rate, latency, header, cable):
    return size / rate + hops * (latency + (frame + header) / rate) + (hops + 1) * cable
