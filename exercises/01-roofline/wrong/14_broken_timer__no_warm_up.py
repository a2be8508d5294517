# diagnosis: the first call is still in it
def elapsed(chip, calls):
    chip.synchronize()
    began = chip.clock()
    for _ in range(calls):
        chip.launch()
    chip.synchronize()
    return chip.clock() - began


def time_call(chip):
    calls = 1 + int(100 * chip.tick / 2e-6)
    return elapsed(chip, calls) / calls
