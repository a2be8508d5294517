# ---- added: Losses take away
def received(sent, losses):
    return sent + sum(losses)


# ---- largest: all count, not the largest
def received(sent, losses):
    return sent - max(losses, default=0)


# ---- half: That is half of it
def lane_oma(mean, extinction):
    return mean * (extinction - 1) / (extinction + 1)


# ---- highest: You took the mean for the highest level
def lane_oma(mean, extinction):
    return mean - mean / extinction


# ---- one_sided: they are twice its reach apart
def needed(noise, responsivity, reach, levels):
    return (levels - 1) * reach * noise / responsivity / 1000


# ---- one_step: That is one step
def needed(noise, responsivity, reach, levels):
    return 2 * reach * noise / responsivity / 1000


# ---- four_steps: not four
def needed(noise, responsivity, reach, levels):
    return 2 * levels * reach * noise / responsivity / 1000
