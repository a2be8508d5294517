"""Continuous against static batches: tokens a second of the engine on the tiny model.

    python benchmarks/engine.py   # -> results/engine.json

The same 200 requests, whose answers have exponential lengths, go through the same
engine under two rows of its table of policies. Beside each run stands what the slots of
`stacklib.serving.slots` say of the same lengths.
"""

import sys
import time
from typing import Any

import host_common
import numpy as np

from stacklib import tinylm
from stacklib.roofline.host import measure as host
from stacklib.serving import Engine
from stacklib.serving.slots.batches import continuous, drawn_lengths, static, steps

STEM = "engine"
REQUESTS, BATCH, ROUNDS = 200, 8, 5
MEAN, PROMPT = 40.0, 8  # tokens of an answer on average, and of a prompt
SLOTS = {"static": static, "fcfs": continuous}


def lengths(requests: int) -> list[int]:
    """Tokens of every answer: what the context holds at most."""
    most = tinylm.load().config.max_position_embeddings - PROMPT
    return [min(each, most) for each in drawn_lengths(requests, MEAN)]


def asked(policy: str, requests: int) -> Engine:
    """An engine with all requests in line."""
    engine = Engine(
        tinylm.load(),
        blocks=256,
        block_size=16,
        max_batch=BATCH,
        chunk=128,
        policy=policy,
    )
    draw = np.random.default_rng(0)
    for most in lengths(requests):
        prompt = draw.integers(0, 256, PROMPT).tolist()
        engine.submit(prompt, tinylm.Sampling(0.0), most=most)
    return engine


def side_by_side(requests: int) -> dict[str, dict[str, Any]]:
    """CPU seconds, tokens and steps of both until all are answered.

    The one that is behind in tokens makes the next step: so other work on the machine
    meets both alike.
    """
    engines = {policy: asked(policy, requests) for policy in SLOTS}
    took, made = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0)
    while busy := [policy for policy, engine in engines.items() if engine.busy]:
        behind = min(busy, key=lambda policy: made[policy])
        began = time.process_time()
        engines[behind].step()
        took[behind] += time.process_time() - began
        made[behind] = engines[behind].metrics().counts.generated_tokens
    return {
        policy: {
            "time_s": took[policy],
            "tokens": made[policy],
            "steps": engine.metrics().counts.steps,
        }
        for policy, engine in engines.items()
    }


def measure(requests: int = REQUESTS, rounds: int = ROUNDS) -> dict[str, Any]:
    """Some rounds of both."""
    watch = host.Watch()
    runs = [side_by_side(requests) for _ in range(rounds)]
    rows = [
        {
            "id": policy,
            "times_s": [each[policy]["time_s"] for each in runs],
            "tokens": runs[0][policy]["tokens"],
            "steps": runs[0][policy]["steps"],
            "steps_of_slots": steps(way(lengths(requests), BATCH)),
        }
        for policy, way in SLOTS.items()
    ]
    return host_common.head(
        STEM,
        None,
        watch,
        requests=requests,
        batch=BATCH,
        rows=rows,
        why_no_prediction="a ratio of two runs of one engine, with a bar of its own",
    )


def gains(result: dict[str, Any]) -> list[float]:
    """Tokens a second of continuous over static batches, of each round."""
    by_id = {row["id"]: row for row in result["rows"]}
    still, moving = by_id["static"], by_id["fcfs"]
    each = moving["tokens"] / still["tokens"]
    pairs = zip(still["times_s"], moving["times_s"], strict=True)
    return [each * slow / fast for slow, fast in pairs]


def main() -> int:
    """Measure, show and write."""
    result = measure()
    for row in result["rows"]:
        rate = row["tokens"] / float(np.median(row["times_s"]))
        print(f"{row['id']:8} {row['steps']:5} steps, {rate:7.0f} tokens/s")
    ratios = sorted(gains(result))
    print(f"gain {ratios[len(ratios) // 2]:.2f}, {ratios}")
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
