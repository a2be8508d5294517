# diagnosis: other work only ever adds, and a mean keeps what it added
def elapsed(chip, calls):
    chip.synchronize()
    began = chip.clock()
    for _ in range(calls):
        chip.launch()
    chip.synchronize()
    return chip.clock() - began


def time_call(chip):
    elapsed(chip, 3)
    calls = 1
    while elapsed(chip, calls) < 200 * chip.tick:
        calls *= 2
    return sum(elapsed(chip, calls) for _ in range(21)) / 21 / calls
