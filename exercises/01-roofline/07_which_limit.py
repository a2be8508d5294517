"""Which limit, and which chip?

level: build

You are given operations and bytes of a piece of work, and two rates of a chip. Three
things are asked of you every week:

- **Sketch the roofline.** `sketch(peak, bandwidth, low, high)` gives the points
  through which the roof is drawn from intensity `low` to `high`: a list of three
  pairs of intensity and rate, the ridge in the middle. The ridge lies between `low`
  and `high`.
- **Say what it waits for.** `waits_for(flop, moved, peak, bandwidth)` is "memory" or
  "compute".
- **Choose the chip.** `quickest(flop, moved, devices, dtype)` gives the device with
  the least time for that work. `device.peak(dtype).si` is in FLOP/s and
  `device.memory_bandwidth.si` in B/s. A device without this format, one that is not
  in `device.formats`, cannot be chosen.

hint: All three follow from two divisions, flop / peak and moved / bandwidth, and from
where they are equal. The quickest chip is not the one with the highest peak, and not
the one with the fastest memory either: it has the smallest of the larger times.
"""

from stacklib import hardware, roofline
from stacklib.grading import expect
from stacklib.roofline.count.traffic_cuts import five_operations

# ---- your answer ----


def sketch(peak, bandwidth, low, high):
    """Three points of the roof: (intensity, rate) at low, at the ridge, at high."""
    return [(low, low * bandwidth), (peak / bandwidth, peak), (high, peak)]


def waits_for(flop, moved, peak, bandwidth):
    """ "memory" or "compute": which takes longer."""
    return "memory" if moved / bandwidth > flop / peak else "compute"


def quickest(flop, moved, devices, dtype):
    """The device of the list on which this work takes least time."""

    def time(device):
        rates = device.peak(dtype).si, device.memory_bandwidth.si
        return max(flop / rates[0], moved / rates[1])

    return min((d for d in devices if dtype in d.formats), key=time)


# ---- tests ----

NAMES = ("a100-sxm-80gb", "h100-sxm", "h20", "rtx-5090", "tpu-v6e")
DEVICES = [hardware.get(name) for name in NAMES]


def pieces(dtype):
    """Work on both sides of every ridge: rows of a batch by a matrix, and the five."""
    found = [
        roofline.matmul(m=m, n=8192, k=8192, dtype=dtype)
        for m in (1, 32, 128, 256, 512, 4096)
    ]
    return found + list(five_operations(4096, 4096, dtype).values())


def right_sketch(peak, bandwidth, low, high):
    found = roofline.ridge_point(peak, bandwidth)
    return [(x, roofline.attainable(x, peak, bandwidth)) for x in (low, found, high)]


def point(which, axis, of=None):
    """One number of the sketch, as a function of the chip."""

    def read(device):
        rates = (device.peak("bf16").si, device.memory_bandwidth.si)
        points = (of or sketch)(*rates, 0.5, 5000.0)
        pairs = expect.sequence(points, "a list of three pairs", 3)
        pair = "a pair of intensity and rate"
        return expect.sequence(pairs[which], pair, 2)[axis]

    return read


SIDES = {
    (0, 1): {
        "Left of the ridge the wires set the rate, not the units.": (
            lambda device: device.peak("bf16").si
        ),
    },
    (2, 1): {
        "Right of the ridge the roof is flat: more intensity does not help.": (
            lambda device: 5000.0 * device.memory_bandwidth.si
        ),
    },
}


def test_sketch():
    cases = [{"device": device} for device in DEVICES]
    for which, axis in ((1, 0), (1, 1), (0, 1), (2, 1), (0, 0), (2, 0)):
        expect.function_matches(
            point(which, axis),
            point(which, axis, right_sketch),
            cases,
            unit=("FLOP/B", "FLOP/s")[axis],
            mistakes=SIDES.get((which, axis), {}),
        )


def case_of(work, device, dtype):
    return {
        "flop": work.operations.si,
        "moved": work.bytes.si,
        "peak": device.peak(dtype).si,
        "bandwidth": device.memory_bandwidth.si,
    }


def test_waits_for():
    for dtype in ("bf16", "fp8"):
        for device in DEVICES:
            for work in pieces(dtype) if dtype in device.formats else ():
                case = case_of(work, device, dtype)
                right = roofline.bound_on(work, device).bound
                value = expect.call(waits_for, case)
                expect.equal(value, value, among=("memory", "compute"))
                if value != right:
                    raise expect.Mistake(why(work, device, dtype, value))


def why(work, device, dtype, value):
    """Intensity against the ridge, in words."""
    intensity, ridge = work.intensity.si, roofline.ridge(device, dtype).si
    side = "left" if intensity < ridge else "right"
    return (
        f"{value!r} for {work.name} on {device.short} in {dtype}: its "
        f"{intensity:.3g} FLOP/B lie {side} of the ridge at {ridge:.3g}"
    )


def test_quickest():
    for dtype in ("bf16", "fp8"):
        able = [d for d in DEVICES if dtype in d.formats]
        for work in pieces(dtype):
            right = min(able, key=lambda d: roofline.bound_on(work, d).time.si)
            case = {
                "flop": work.operations.si,
                "moved": work.bytes.si,
                "devices": DEVICES,
                "dtype": dtype,
            }
            value = expect.call(quickest, case)
            if slower := why_slower(value, right, work, dtype):
                raise expect.Mistake(slower)


def why_slower(value, right, work, dtype):
    """Why another device is the quickest; empty where none is."""
    if value not in DEVICES:
        return f"{expect.clip(value)}: one of the devices given is asked for"
    if dtype not in value.formats:
        return f"{value.short} has no {dtype}, and so cannot be chosen"
    if roofline.bound_on(work, value).time.si <= roofline.bound_on(work, right).time.si:
        return ""
    able = [d for d in DEVICES if dtype in d.formats]
    if value is max(able, key=lambda d: d.peak(dtype).si):
        return (
            f"{value.short} has the highest {dtype} peak; {work.name} waits "
            f"for its bytes, and {right.short} moves them sooner"
        )
    if value is max(able, key=lambda d: d.memory_bandwidth.si):
        return (
            f"{value.short} has the fastest memory; {work.name} waits for "
            f"arithmetic, and {right.short} does it sooner"
        )
    return f"{value.short} for {work.name}: {right.short} is quicker"
