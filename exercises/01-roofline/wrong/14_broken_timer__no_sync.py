# diagnosis: that is the launch; you read the clock while the device worked
def elapsed(chip, calls):
    began = chip.clock()
    for _ in range(calls):
        chip.launch()
    return chip.clock() - began


def time_call(chip):
    elapsed(chip, 3)
    calls = 1
    while elapsed(chip, calls) < 200 * chip.tick:
        calls *= 2
    return min(elapsed(chip, calls) for _ in range(21)) / calls
