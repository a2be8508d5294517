"""Claims on prefill and decode: operations a byte, and what experts read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stacklib import hardware, models, roofline, serving
from stacklib.evidence import Finding, claim
from stacklib.models.parts import Experts
from stacklib.models.work import operations
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, PRODUCTS, TP
from stacklib.pages.serving.fits import LATENT, LONG, machine
from stacklib.quantity import Quantity, bytes_per_element, chosen, counting, one_of
from stacklib.roofline.work.moving import memory_time
from stacklib.serving import Account

CROWD, SMALL_BATCH, SESSION = 64, 32, 50_000  # sequences; tokens of the long prompt
FEW, MANY = 16, 32  # sequences that use a few hundredths of the peak
ONE_BYTE, ALONE = "weights have one byte", "one sequence is served alone"


def account(batch: int = 1, dtype: str = "bf16", prompt: int = 0) -> Account:
    """The running case, calibrated: a step, or a prompt."""
    asked: dict[str, Any] = {"context": prompt or CONTEXT}
    if prompt:
        asked["prompt"] = prompt
    return serving.account(
        MODEL, DEVICE, dtype, TP, batch, mode="calibrated", kv_dtype="bf16", **asked
    )


@claim("itl-range")
def between_tokens() -> Finding:
    """A step of the running case for one, and for all who fit."""
    full = int(machine().conversations.si)
    alone, crowd = (account(batch).total() for batch in (1, full))
    return Finding(
        alone,
        to=crowd,
        why=f"{models.get(MODEL).name} on {TP} H100s, for one conversation of "
        f"{CONTEXT:,} tokens and for {full}, as many as fit. The run that the document "
        "cites has about twice as long.",
    )


def rate(prompt: int) -> Quantity:
    """Operations a second of one chip, while it multiplies weights with a prompt."""
    work = prefilled(MODEL, prompt, "products")
    chips = chosen(TP, label="chips")
    return (work / chips / account(prompt=prompt)[PRODUCTS].time).named("rate reached")


@claim("prefill-640-tflops")
def saturation() -> Finding:
    """What a chip reaches in the products of a prompt, predicted."""
    whole = prefilled(MODEL, CONTEXT, "all") / account(prompt=CONTEXT).total() / TP
    return Finding(
        rate(CONTEXT),
        why="One H100's products with the weights; the whole prompt with attention, "
        f"norms and exchanges runs at {whole:.3 TFLOP/s}. The document does not say "
        "whether it means a GPU, a node or the pool.",
    )


@claim("session-prefill-time")
def session() -> Finding:
    """The long prompt on one node, weights in FP8 and in bf16."""
    fast, slow = (account(dtype=d, prompt=SESSION).total() for d in ("e4m3fn", "bf16"))
    ideal = prefilled(MODEL, SESSION, "all") / hardware.get(DEVICE).peak("bf16")
    return Finding(
        fast,
        to=slow,
        why=f"{models.get(MODEL).name}, {SESSION:,} tokens on {TP} H100s. Three such "
        "nodes at their peak and without an exchange would need "
        f"{ideal / (3 * TP):.2 s}. A smaller model, or a sparse one, fits the range.",
    )


@counting("operations of a prompt", unit="FLOP")
def prefilled(model: str, tokens: int, what: str) -> float:
    """Operations of a prompt, its last token's logits only: all, or of the matrices."""
    work = read_in(tokens, "bf16", "last", model)
    return sum(op.flops for op in work if what == "all" or op.weight_bytes)


def read_in(tokens: int, dtype: str, logits: str, model: str = MODEL) -> Any:
    """The operations of a prompt."""
    asked: Any = {"context": tokens, "dtype": dtype, "logits": logits}
    return operations(models.get(model), "prefill", **asked)


# -- operations for each byte ----------------------------------------------------------


@claim("prefill-flops")
def prefill_operations() -> Finding:
    """Operations of all matrices for each parameter that a token passes."""
    passed = models.get(MODEL).streamed_parameters
    each = prefilled(MODEL, CONTEXT, "products") / passed / one_of("token")
    beside = prefilled(MODEL, CONTEXT, "all") / prefilled(MODEL, CONTEXT, "products")
    return Finding(
        (each / chosen(CONTEXT, label="tokens")).named("operations of a parameter"),
        why=f"Attention adds {beside - 1:.2 %} at {CONTEXT:,} tokens, and grows with "
        "their square.",
    )


@counting("bytes of the weights, {dtype}", unit="B")
def weights_read(tokens: int, dtype: str) -> float:
    """Bytes of the weights that a prompt reads."""
    return sum(op.weight_bytes for op in read_in(tokens, dtype, "all"))


@counting("operations of the products", unit="FLOP")
def products(tokens: int) -> float:
    """Operations of a prompt's products with the weights, every token's logits too."""
    return sum(op.flops for op in read_in(tokens, "bf16", "all") if op.weight_bytes)


def intensity(dtype: str) -> Quantity:
    """Operations for each byte of the weights, for one token."""
    return (products(1) / weights_read(1, dtype)).named(f"intensity, {dtype}")


def per_token(dtype: str) -> Quantity:
    """The same of a prompt, for each of its tokens."""
    found = products(CONTEXT) / weights_read(CONTEXT, dtype)
    tokens = chosen(CONTEXT, label="tokens") * one_of("token")
    return (found / tokens).named(f"intensity of a prompt, {dtype}")


@claim("prefill-ai-2l", right_if=ONE_BYTE)
def prefill_intensity() -> Finding:
    """Of bf16, in which its own threshold is given; of FP8 under the condition."""
    return Finding(
        per_token("bf16"),
        then=per_token("e4m3fn"),
        why="Two operations for each weight, which has two bytes in bf16.",
    )


@claim("prefill-threshold-512")
def threshold() -> Finding:
    """Tokens whose products take as long as reading the weights."""
    tokens = roofline.ridge(DEVICE, "bf16") / per_token("bf16")
    return Finding(
        tokens.named("tokens at the ridge"),
        why="The ridge of an H100 in bf16; in FP8 both peak and intensity double, and "
        "the number stays.",
    )


@claim("decode-ai-2", right_if=ONE_BYTE)
def decode_intensity() -> Finding:
    """Of one sequence, weights alone, in bf16 and in FP8."""
    return Finding(
        intensity("bf16"),
        then=intensity("e4m3fn"),
        why="A token alone reads every weight for itself. The same document says one "
        "elsewhere, which is bf16.",
    )


@claim("decode-5-10-util", right_if=f"{FEW} to {MANY} sequences share a step")
def utilisation() -> Finding:
    """Share of the peak that a step needs, alone and with a few."""
    ridge = roofline.ridge(DEVICE, "bf16")
    alone = intensity("bf16") / ridge
    few, many = (alone * chosen(n, label="sequences") for n in (FEW, MANY))
    return Finding(
        alone.named("share of the peak, alone"),
        then=few.named(f"share of the peak, {FEW}"),
        then_to=many.named(f"share of the peak, {MANY}"),
        why="Weights alone; each sequence adds as much until the ridge.",
    )


@claim("quant-barely-prefill")
def weight_only() -> Finding:
    """A prompt with weights in bf16 over the same with codes of four bits."""
    wide, short = (
        account(dtype=d, prompt=CONTEXT).total() for d in ("bf16", "int4_g128")
    )
    both = account(dtype="e4m3fn", prompt=CONTEXT).total()
    return Finding.true(
        "Codes are widened to bf16 before they are multiplied. Where inputs are in "
        f"FP8, too, a prompt is {wide / both:.3} times as fast.",
        computed=(wide / short).named("bf16 over int4"),
    )


@claim("decode-mlp-compute-bound")
def mlp_intensity() -> Finding:
    """Operations for each byte of the MLP's weights at a small batch."""
    batch = chosen(SMALL_BATCH, label="sequences of a small batch")
    return Finding.false(
        f"As many as sequences, {SMALL_BATCH} here; the ridge of an H100 is at "
        f"{roofline.ridge(DEVICE, 'bf16')}. The memory is busy, not idle: it reads "
        "the MLP.",
        computed=(intensity("bf16") * batch).named("intensity of the MLP"),
    )


@claim("decode-mlp-us")
def mlp_time() -> Finding:
    """Reading a layer's MLP from the memory of one H100."""
    model = models.get(MODEL)
    matrices = 3 * model.size("hidden", "hidden size")
    held = matrices * model.size("intermediate", "MLP size") * bytes_per_element("bf16")
    time = memory_time(held, DEVICE)
    return Finding.depends(
        "one chip reads the MLP of a large dense model",
        f"A layer of {model.name} in bf16 takes {time:.3 µs} so; over the {TP} chips "
        f"that hold it, it takes {time / TP:.2 µs}.",
        computed=time.named("reading the MLP"),
    )


# -- what a step reads -----------------------------------------------------------------


@claim("decode-waits-kv")
def waits() -> Finding:
    """The cache's share of what a step reads, at the running case."""
    alone = cache_share(1, CONTEXT)
    full = cache_share(int(machine().conversations.si), CONTEXT)
    return Finding.depends(
        "many sequences share a step or each is long",
        computed=alone,
        why=f"One conversation of {CONTEXT:,} tokens is {alone:.2 %} of a step's "
        f"bytes, as many as fit are {full:.2 %}, and one of {LONG:,} is "
        f"{cache_share(1, LONG):.2 %}.",
    )


def cache_share(batch: int, context: int) -> Quantity:
    """Share of a step's bytes that is cache."""
    model = models.get(MODEL)
    work = roofline.decode_work(model, dtype="bf16", batch=batch, context=context)
    return (1 - model.read_bytes(batch, "bf16") / work.bytes).named(
        "share of the cache"
    )


@claim("hbm-bandwidth-binding")
def bandwidth() -> Finding:
    """The bandwidth of the chip that has this one."""
    work = roofline.decode_work(models.get(MODEL), dtype="e4m3fn", context=LONG)
    times = [memory_time(work.bytes, c) for c in (DEVICE, "h200_sxm")]
    return Finding(
        hardware.get(DEVICE).memory_bandwidth,
        why="It is an H100's. Whether it is too little needs a target: "
        f"{LONG:,} tokens in FP8 take {times[0]:.3 ms} a token there and "
        f"{times[1]:.3 ms} on an H200, if one chip could hold the model.",
    )


@claim("deepseek-serving-cost", right_if=ALONE)
def experts_read() -> Finding:
    """Parameters that a step of DeepSeek-V3 reads, for many and for one."""
    model = models.get(LATENT)
    return Finding(
        model.read_parameters(CROWD),
        then=model.read_parameters(1),
        why=f"At {CROWD} sequences most experts are chosen by somebody, each is read "
        "once, and operations, which are those of few experts, do not bind.",
    )


@counting("parameters read, {experts} experts a token")
def read_with(experts: int, batch: int) -> float:
    """Parameters that a step of DeepSeek-V3 would read with fewer experts a token."""
    model = models.get(LATENT)
    kinds = tuple(
        replace(block, mlp=replace(block.mlp, top_k=experts))
        if isinstance(block.mlp, Experts)
        else block
        for block in model.kinds
    )
    return replace(model, kinds=kinds).read_parameters(batch).si


def read_cut(experts: int, batch: int) -> Quantity:
    """What fewer experts a token leave of the parameters read."""
    before = models.get(LATENT).read_parameters(batch)
    return (read_with(experts, batch) / before).named("left of the reading")


@claim("moe-active-reduction")
def fewer_active() -> Finding:
    """Three experts a token instead of eight: what a batch no longer reads."""
    return Finding(
        (1 - read_cut(3, CROWD)).named("cut of the reading"),
        why=f"DeepSeek-V3 with three of eight experts a token, at {CROWD} sequences; "
        f"alone it is {1 - read_cut(3, 1):.2 %}, since attention and the shared expert "
        "stay. Where arithmetic binds, cost follows what is active.",
    )


@claim("moe-4x-reduction")
def four_times() -> Finding:
    """Two experts a token instead of eight: how many times less a batch reads."""
    return Finding(
        (models.get(LATENT).read_parameters(CROWD) / read_with(2, CROWD)).named("less"),
        why=f"DeepSeek-V3 with two of eight experts a token, at {CROWD} sequences; "
        f"alone it is {1 / read_cut(2, 1):.2}. Past a batch of experts over chosen "
        "ones, a step reads what the model has, not what a token uses.",
    )
