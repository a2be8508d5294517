# ---- slope: what some calls more take, and nothing of what is there once
def time_call(chip):
    elapsed(chip, 2)
    calls = 1
    while elapsed(chip, calls) < 100 * chip.tick:
        calls *= 2
    samples = max(25, 10_000 // calls)
    few = min(elapsed(chip, calls) for _ in range(samples))
    many = min(elapsed(chip, 2 * calls) for _ in range(samples))
    return (many - few) / calls


# ---- quantile: the mean of the quickest, as a quantity
from stacklib.quantity import Quantity


def elapsed(chip, calls):
    chip.synchronize()
    start = chip.clock()
    while calls:
        chip.launch()
        calls -= 1
    chip.synchronize()
    return chip.clock() - start


def time_call(chip):
    for _ in range(5):
        elapsed(chip, 1)
    one = max(elapsed(chip, 64) / 64, 1e-7)
    calls = max(1, int(150 * chip.tick / one))
    samples = sorted(elapsed(chip, calls) / calls for _ in range(60))
    return Quantity(1e6 * sum(samples[:3]) / 3, "µs")
