"""Claims on caches that go elsewhere: to another server, or out of a full memory."""

from stacklib.evidence import Finding, claim
from stacklib.models import get
from stacklib.pages.serving import tiers as page

RAILS = 8
FAST, SLOW, ETHERNET = "ib-xdr", "ib-ndr", "eth-400g"


@claim("session-kv-transfer")
def a_session() -> Finding:
    """A session's cache over eight rails: a narrow one on fast, a wide one on slow."""
    narrow = page.sent(page.LONG, "fp8", FAST, RAILS)
    wide = page.sent(page.LONG, "bf16", SLOW, RAILS)
    one = page.sent(page.LONG, "bf16", SLOW, 1)
    return Finding(
        narrow.time.named("FP8 over eight rails of 800 Gbit/s"),
        to=wide.time.named("bf16 over eight rails of 400 Gbit/s"),
        why=f"{page.LONG:,} tokens of Llama-3-70B are {wide.size.text('GB')} in bf16. "
        f"It takes a rail for each of eight GPUs; over one it is {one.time.text()}.",
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
    """Misses of eviction by regret against LRU's, over the sizes of the figure."""
    gains = [page.saved("regret", room) for room in page.ROOMS[1:]]
    bound = [page.saved("belady", room) for room in page.ROOMS]
    low, high = min(gains, key=lambda q: q.si), max(gains, key=lambda q: q.si)
    least, most = min(bound, key=lambda q: q.si), max(bound, key=lambda q: q.si)
    return Finding(
        low,
        to=high,
        why="No trace and no size of the cache are named. On conversations, with room "
        f"for {page.ROOMS[1]} to {page.ROOMS[-1]} blocks, a policy that learns saves "
        f"what is computed here, and one that knows the future {least.text('%', 2)} to "
        f"{most.text('%', 2)}: the claim asks a policy to foresee.",
    )
