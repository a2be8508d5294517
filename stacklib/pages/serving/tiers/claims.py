"""Claims on caches that go elsewhere: to another server, or out of a full memory."""

from stacklib.evidence import Finding, claim
from stacklib.models import get
from stacklib.pages.serving import tiers as page

RAILS, RAIL, ETHERNET = page.CHIPS, "ib-ndr", "eth-400g"


@claim("session-kv-transfer")
def a_session() -> Finding:
    """A session's cache over the eight rails of a node of H100s, narrow and wide."""
    narrow, wide = (page.sent(page.LONG, d, RAIL, RAILS) for d in ("fp8", "bf16"))
    one = page.sent(page.LONG, "bf16", RAIL, 1)
    return Finding(
        narrow.time.named("FP8 over eight rails of 400 Gbit/s"),
        to=wide.time.named("bf16 over eight rails of 400 Gbit/s"),
        why=f"{page.LONG:,} tokens of Llama-3-70B are {wide.size.text('GB')} in bf16. "
        f"It takes a rail for each of eight GPUs; over one it is {one.time.text()}. "
        "The low end needs rails of twice the rate and a cache in FP8.",
    )


@claim("kv-transfer-88ms", right_if="every head has keys and values of its own")
def a_prompt() -> Finding:
    """The cache of 4,096 tokens over one port, grouped heads and all heads."""
    wide = page.sent(page.CONTEXT, "bf16", ETHERNET, 1)
    narrow = page.sent(page.CONTEXT, "fp8", ETHERNET, 1)
    shape = get(page.MODEL)
    groups = shape.size("heads", "heads") / shape.size("kv_heads", "KV heads")
    return Finding(
        wide.time,
        then=(narrow.time * groups).named("FP8, as many KV heads as heads"),
        why=f"Llama-3-70B shares its keys and values among {groups.text()} heads: "
        f"{wide.time.text('ms')} in bf16 and {narrow.time.text('ms')} in FP8.",
    )


@claim("regret-eviction-gain")
def regret() -> Finding:
    """Misses of eviction by regret against LRU's, on a trace of ours alone."""
    gains = [page.saved("regret", room) for room in page.ROOMS[1:]]
    bound = [page.saved("belady", room) for room in page.ROOMS]
    low, high = min(gains, key=lambda q: q.si), max(gains, key=lambda q: q.si)
    least, most = min(bound, key=lambda q: q.si), max(bound, key=lambda q: q.si)
    return Finding.open(
        "No trace and no size of the cache are named. On conversations of ours, with "
        f"room for {page.ROOMS[1]} to {page.ROOMS[-1]} blocks, a policy that learns "
        f"saves {low.text('%', 2)} to {high.text('%', 2)}, and one that knows the "
        f"future {least.text('%', 2)} to {most.text('%', 2)}: there the claim asks a "
        "policy to foresee. To settle it: the trace, the policy and its room."
    )
