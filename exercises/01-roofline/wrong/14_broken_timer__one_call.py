# diagnosis: not one tick passed while you looked
def elapsed(chip, calls):
    chip.synchronize()
    began = chip.clock()
    for _ in range(calls):
        chip.launch()
    chip.synchronize()
    return chip.clock() - began


def time_call(chip):
    elapsed(chip, 3)
    return min(elapsed(chip, 1) for _ in range(21))
