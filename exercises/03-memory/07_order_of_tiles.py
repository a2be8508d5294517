"""What does the order of tiles save?

level: derive
project: P3.5

Attention on a chip that runs `units` blocks at once. Each block holds one tile of
queries of one head and reads all keys and values of that head, tile by tile, in step
with the others. All heads have the same number of blocks, `tiles`, and every `group`
heads share keys and values, which take `kv` bytes. Queries and results are small: leave
them out.

Heads are started `section` at a time. Within a section the head changes fastest: with
`section` 1, all tiles of head 0 run before head 1; with `section` equal to `heads`,
tile 0 of every head runs before tile 1. To keep it simple, `units` is a multiple of
`section`, and every section is a whole number of waves.

- `streams(section, group)`: how many different keys-and-values one wave reads.
- `fits(units, section, group, kv, capacity)`: whether the L2, of `capacity` bytes and
  LRU, still holds them for the next wave of the same section.
- `hit_rate(heads, tiles, units, section, group, kv, capacity)`: share of the bytes of
  keys and values that the L2 supplies. What blocks of one wave share comes from memory
  once. If the streams of a wave fit, later waves that read the same ones find them,
  those of the next section too. If they do not fit, every wave reads its own again.
- `widest_section(heads, tiles, units, group, kv, capacity, sections)`: the largest of
  the sections offered whose hit rate is as high as that of the best. Kernels with a
  causal mask want many heads side by side, to start their longest blocks first.

`units` does not enter the second answer; whoever sees why has understood LRU here.

hint: LRU keeps a cycle whole or loses all of it: which of the two happens decides
everything. For the rate, count what comes from memory first, in two branches, and take
its share from one.
"""

from functools import cache

from stacklib import hardware, models
from stacklib.grading import expect
from stacklib.memory.cache.waves import wave_reads

# ---- your answer ----


def streams(section, group):
    """Different keys-and-values that a wave reads."""
    return -(-section // group)


def fits(units, section, group, kv, capacity):
    """Whether the L2 holds what a wave reads until the next wave."""
    return streams(section, group) * kv <= capacity


def hit_rate(heads, tiles, units, section, group, kv, capacity):
    """Share of the bytes of keys and values that the L2 supplies."""
    asked = heads * tiles * kv
    if fits(units, section, group, kv, capacity):
        missed = heads // group * kv
    else:
        waves = heads * tiles // units
        missed = waves * streams(section, group) * kv
    return 1 - missed / asked


def widest_section(heads, tiles, units, group, kv, capacity, sections):
    """The largest of the sections offered that loses nothing against the best."""
    rates = {s: hit_rate(heads, tiles, units, s, group, kv, capacity) for s in sections}
    return max(s for s in sections if rates[s] >= max(rates.values()) - 1e-9)


# ---- tests ----

FITS = ("units", "section", "group", "kv", "capacity")
UNITS = 128  # of a chip's blocks, a round number
DEVICES = ("h100-sxm", "a100-sxm-80gb", "rtx-4090", "l4")


def settings():
    """Layers on devices: what all the answers are asked for."""
    for name, tokens in (
        ("llama-3-70b", 32768),
        ("llama-3-8b", 16384),
        ("llama-2-7b", 16384),
    ):
        model = models.get(name)
        group = model.heads // model.kv_heads
        kv = 2 * 2 * tokens * model.head_dim
        for key in DEVICES:
            yield {
                "heads": model.heads,
                "tiles": tokens // 128,
                "units": UNITS,
                "group": group,
                "kv": kv,
                "capacity": hardware.get(key).l2_capacity.si,
            }


def cases():
    return [
        {**one, "section": s}
        for one in settings()
        for s in (1, one["group"], 4 * one["group"], one["heads"])
        if s <= one["heads"]
    ]


@cache
def right_rate(heads, tiles, units, section, group, kv, capacity):
    order = (
        (head // group,)
        for start in range(0, heads, section)
        for _ in range(tiles)
        for head in range(start, start + section)
    )
    # A wave that just fits would hang on single tiles; here none does.
    return wave_reads(order, lambda _: kv, at_once=units, capacity=capacity).hit_rate


def never(heads, tiles, units, section, group, kv, capacity):
    return 1 - -(-section // group) / units


def own_heads(heads, tiles, units, section, group, kv, capacity):
    """Groups forgotten: each head as if it had keys and values of its own."""
    missed = heads if section * kv <= capacity else heads * tiles // units * section
    return 1 - missed / (heads * tiles)


def part_stays(heads, tiles, units, section, group, kv, capacity):
    """As if the share that fits were kept."""
    read = -(-section // group) * kv
    waves, kept = heads * tiles / units, min(1, capacity / read)
    once = heads // group * kv
    missed = once + (waves * read - once) * (1 - kept)
    return 1 - missed / (heads * tiles * kv)


def misses_for_hits(**case):
    return 1 - right_rate(**case)


def test_streams():
    expect.function_matches(
        streams,
        lambda section, group: -(-section // group),
        [{"section": s, "group": g} for s in (1, 2, 8, 32, 64) for g in (1, 4, 8)],
        rel=1e-12,
        mistakes={
            "Heads of a group share keys and values: count those, not heads.": (
                lambda section, group: section
            ),
            "A section smaller than a group still reads one.": (
                lambda section, group: section // group
            ),
        },
    )


def read_by_a_wave(section, group, kv, **_):
    return -(-section // group) * kv


# How the reader may have counted what has to fit, and what is said of it.
COUNTS = {
    "Heads of a group share keys and values: count those, not heads.": (
        lambda section, kv, **_: section * kv
    ),
    "You count what every block reads; blocks of a wave that read the same need it "
    "once.": lambda units, kv, **_: units * kv,
}


def test_fits():
    given = [{k: v for k, v in case.items() if k in FITS} for case in cases()]
    # Short contexts fit whichever way they are counted.
    given += [{**case, "kv": case["kv"] // 256} for case in given[:2]]
    mine = [expect.truth(expect.call(fits, case)) for case in given]
    slips = {
        text: [count(**case) <= case["capacity"] for case in given]
        for text, count in COUNTS.items()
    }
    for case, value in zip(given, mine, strict=True):
        read, held = read_by_a_wave(**case), case["capacity"]
        if value != (read <= held):
            why = next((text for text, slip in slips.items() if mine == slip), "")
            said = (
                f"{expect.called(fits, case)} gives {value}, where a wave reads "
                f"{read / 2**20:.0f} MiB and the L2 has {held / 2**20:.0f} MiB"
            )
            raise expect.Mistake(f"{said}. {why}".strip())


def test_hit_rate():
    expect.function_matches(
        hit_rate,
        right_rate,
        cases(),
        rel=1e-6,
        mistakes={
            "That is the share of misses.": misses_for_hits,
            "Heads of a group share keys and values; yours have their own.": own_heads,
            "You keep the share that fits. LRU keeps nothing of a loop that is too "
            "long.": part_stays,
            "As if nothing were ever found from the wave before: it is, where the "
            "streams of a wave fit.": never,
        },
    )


def test_widest_section():
    for case in cases():  # it builds on the rates
        expect.number(expect.call(hit_rate, case), right_rate(**case), rel=1e-6)
    for one in settings():
        offered = [s for s in (1, 4, 8, 16, 32, 64) if s <= one["heads"]]
        rates = {s: right_rate(**one, section=s) for s in offered}
        most = max(rates.values())
        right = max(s for s in offered if rates[s] > most - 1e-9)
        said = expect.call(widest_section, {**one, "sections": offered})
        value = expect.whole(said)
        if value in rates and rates[value] < most - 1e-9:
            raise expect.Mistake(
                f"{value} heads side by side are too many: {100 * rates[value]:.2f} % "
                f"hit, and {100 * most:.2f} % with {right}"
            )
        if value != right:
            raise expect.Mistake(
                f"{value}: with {right} heads side by side as many hit"
            )
    expect.reading("widest section on the last device", f"{right} heads side by side")
