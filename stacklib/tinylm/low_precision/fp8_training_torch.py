"""The book's architecture trained with the operands of its products in few bits.

Every product with a block's matrix rounds what it multiplies: activations and weights
going forward, gradients coming back. Sums, the optimizer and a master copy of the
weights are fp32; embedding, norms, attention's softmax and the output matrix are left
alone, as recipes for FP8 leave them (Micikevicius et al., arXiv 2209.05433, section 4).

A scale per tensor brings its largest magnitude to the largest number of the format:
taken from the tensor itself (current), or from the largest of its last sixteen steps
(delayed; Transformer Engine, *FP8 Delayed Scaling*). What lies beyond is clipped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from stacklib.quantity import resolve
from stacklib.quantizers import Format

from ..config import DATA, Config, read_config
from ..model_torch import Decoder
from ..recipes import Recipe
from ..train_torch import CLIP, optimizers_of, set_rates, text_loss
from .runs import MEAN_OVER

HISTORY = 16  # maxima, as in the examples of Transformer Engine; its default is 1,024
GROWS_AFTER = 20  # steps after which a dynamic loss scale doubles; torch: 2,000
FIRST_SCALE = 2.0**16

TYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "e4m3fn": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}
EIGHT = ("e4m3fn", "e5m2")
LARGEST = {name: Format(name).largest for name in TYPES}


@dataclass(frozen=True, slots=True)
class Precision:
    """How the operands of products are rounded.

    - ``forward``, ``backward``: formats of activations and weights, and of
      gradients.
    - ``scaling``: scale per tensor: ``none``, ``current`` or ``delayed``.
    - ``loss_scale``: what the loss is multiplied by before the backward pass.
    """

    forward: str = "fp32"
    backward: str = "fp32"
    scaling: str = "none"
    loss_scale: float | str = 1.0

    def __post_init__(self) -> None:
        for way in ("forward", "backward"):
            name = resolve(getattr(self, way), ("fp32", *TYPES), "training format")
            object.__setattr__(self, way, name)
        if self.scaling not in ("none", "current", "delayed"):
            raise ValueError(
                f"scaling = {self.scaling!r}: use none, current or delayed"
            )
        scale = self.loss_scale
        if scale != "dynamic" and not (isinstance(scale, float) and 0 < scale < 1e38):
            raise ValueError(
                f"loss_scale = {scale!r}: a float above zero, or 'dynamic', is needed"
            )


RUNS = {
    "fp32": Precision(),
    "bf16": Precision("bf16", "bf16"),
    "fp16": Precision("fp16", "fp16"),
    "fp16_scaled": Precision("fp16", "fp16", loss_scale="dynamic"),
    "fp8_none": Precision("e4m3fn", "e5m2"),
    "fp8_none_scaled": Precision("e4m3fn", "e5m2", loss_scale=2.0**20),
    "fp8_delayed": Precision("e4m3fn", "e5m2", "delayed"),
    "fp8_current": Precision("e4m3fn", "e5m2", "current"),
}


def rounded(x: Tensor, name: str) -> Tensor:
    """The nearest numbers of a format, as fp32.

    Eight bits clip what is too large to their largest number, as the conversions of
    the hardware do; fp16 makes it infinite. Equal to `quantizers.Format`.
    """
    if name == "fp32":
        return x
    if name in EIGHT:
        x = x.clamp(-LARGEST[name], LARGEST[name])
    return x.to(TYPES[name]).float()


@dataclass(slots=True)
class Tally:
    """What rounding did to a run's operands."""

    numbers: int = 0  # not zero before
    zeroed: int = 0
    clipped: int = 0

    def add(self, x: Tensor, found: Tensor, most: float) -> None:
        """Count one tensor, before rounding (scaled) and after it."""
        alive = x != 0
        self.numbers += int(alive.sum())
        self.zeroed += int((alive & (found == 0)).sum())
        # A scale is rounded too: a tensor's own maximum may come out an ulp too large.
        self.clipped += int((x.abs() > most * (1 + 1e-6)).sum())

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the numbers that became zero, and that were clipped."""
        count = max(1, self.numbers)
        return {"zeroed": self.zeroed / count, "clipped": self.clipped / count}


@dataclass(slots=True)
class Rounding:
    """One tensor of every step: its format, its scale, its last maxima."""

    fmt: str
    scaling: str
    tally: Tally
    maxima: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def __call__(self, x: Tensor) -> Tensor:
        """``x`` as its product meets it."""
        if self.fmt == "fp32":
            return x
        scale = self.scale(x)
        scaled = x * scale
        found = rounded(scaled, self.fmt)
        self.tally.add(scaled, found, LARGEST[self.fmt])
        return found / scale

    def scale(self, x: Tensor) -> float:
        """What brings the largest magnitude to the format's largest; 1 when unknown."""
        if self.scaling == "none":
            return 1.0
        now = float(x.abs().max())
        if self.scaling == "current":
            top = now
        else:
            top = max(self.maxima, default=0.0)
            self.maxima.append(now)
        # A gradient that is not finite yet, or zero, says nothing of the next.
        return LARGEST[self.fmt] / top if 1e-30 < top < 1e30 else 1.0


class _Product(torch.autograd.Function):
    """x @ w.T with its operands rounded, forward and backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, ways: Any) -> Tensor:
        left, right = ways[0](x), ways[1](weight)
        ctx.save_for_backward(left, right)
        ctx.way = ways[2]
        return left @ right.T

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        left, right = ctx.saved_tensors
        gradient = ctx.way(gradient)
        flat = gradient.flatten(0, -2).T @ left.flatten(0, -2)
        return gradient @ right, flat, None


class _Operand:
    """A weight as `Decoder` meets it in ``x @ weight.T``."""

    def __init__(self, weight: Tensor, ways: tuple[Rounding, ...]) -> None:
        self.weight, self.ways = weight, ways

    @property
    def T(self) -> _Operand:
        return self

    def __rmatmul__(self, x: Tensor) -> Tensor:
        product: Callable[..., Tensor] = _Product.apply
        return product(x, self.weight, self.ways)

    def __getattr__(self, name: str) -> Any:  # detach, copy_: those of the weight
        return getattr(self.weight, name)


class Emulated(Decoder):
    """`Decoder` whose block products round their operands; fp32 while evaluated."""

    def __init__(self, config: Config, precision: Precision) -> None:
        super().__init__(config)
        self.tallies = {"forward": Tally(), "backward": Tally()}
        p, told = precision, self.tallies
        self.ways: dict[str, tuple[Rounding, ...]] = {
            name: (
                Rounding(p.forward, p.scaling, told["forward"]),
                Rounding(p.forward, p.scaling, told["forward"]),
                Rounding(p.backward, p.scaling, told["backward"]),
            )
            for name in self.named()
            if "layers" in name and name.endswith("proj.weight")
        }

    def weight(self, name: str) -> Any:
        """One weight by its Hugging Face name; in training, as its product meets it."""
        found = super().weight(name)
        ways = getattr(self, "ways", {}).get(name)
        return _Operand(found, ways) if ways and self.training else found


def train_short(
    precision: Precision,
    batches: list[Tensor],
    probe: Tensor,
    *,
    config: Config | None = None,
    seed: int = 0,
    every: int = 20,
    mean_over: int = MEAN_OVER,
    reference: list[Tensor] | None = None,
) -> dict[str, Any]:
    """A short run of the draft's architecture, from its first weights.

    The loss is a mean over ``mean_over`` tokens, of which this device computes its
    batch; the sum over the other devices is taken to be as many times its own, in
    fp32. A step whose gradients are not finite is left out.

    - ``precision``: how products round.
    - ``batches``: ids of each step, (batch, tokens + 1).
    - ``probe``: held-out ids, scored with the master weights in fp32.
    - ``config``: sizes; default the draft's.
    - ``seed``, ``every``, ``mean_over``: of the first weights; steps between
      measurements; tokens in the mean.
    - ``reference``: weights of another run at each measurement; the relative
      distance is stored.

    Gives ``step``, ``loss``, ``held_out``, ``distance`` by measurement;
      ``skipped``, ``scale``; ``forward`` and ``backward``: shares zeroed and
      clipped; and ``weights``, one tensor for each measurement.
    """
    if not batches or mean_over < (tokens := batches[0][:, 1:].numel()):
        raise ValueError(
            f"{len(batches)} batches, mean_over = {mean_over}: one batch, and its "
            "tokens, are the least"
        )
    recipe = Recipe(steps=len(batches), warmup=max(1, len(batches) // 8))
    torch.manual_seed(seed)
    model = Emulated(config or read_config(DATA / "draft" / "config.json"), precision)
    optimizers = optimizers_of(model, recipe)
    dynamic = precision.loss_scale == "dynamic"
    scale = FIRST_SCALE if dynamic else float(precision.loss_scale)
    share = tokens / mean_over
    told: dict[str, Any] = {"step": [], "loss": [], "held_out": [], "distance": []}
    kept: list[Tensor] = []
    recent: list[float] = []
    skipped = good = 0
    for step, ids in enumerate(batches):
        set_rates(optimizers, recipe, step)
        loss = text_loss(model(ids[:, :-1]), ids)
        (loss * (share * scale)).backward()
        recent.append(loss.item())
        gradients = [p.grad for p in model.parameters()]
        if all(bool(g.isfinite().all()) for g in gradients):
            for gradient in gradients:
                gradient.div_(share * scale)
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            for optimizer in optimizers:
                optimizer.step()
            good += 1
            scale = scale * 2 if dynamic and good % GROWS_AFTER == 0 else scale
        else:
            skipped, good = skipped + 1, 0
            scale = scale / 2 if dynamic else scale
        model.zero_grad()
        if (step + 1) % every == 0 or step + 1 == len(batches):
            now = torch.cat([w.flatten() for w in model.named().values()]).clone()
            if reference is not None:
                origin = reference[len(kept)]
                away = float((now - origin).norm() / origin.norm())
                told["distance"].append(away)
            kept.append(now)
            told["step"].append(step + 1)
            told["loss"].append(sum(recent) / len(recent))
            told["held_out"].append(score(model, probe))
            recent = []
    ends = {"skipped": skipped / len(batches), "scale": scale, "weights": kept}
    return told | ends | {way: t.shares for way, t in model.tallies.items()}


@torch.no_grad()
def score(model: Decoder, probe: Tensor) -> float:
    """Mean nats a token of held-out ids, products in fp32."""
    model.eval()
    found = text_loss(model(probe[:, :-1]), probe).item()
    model.train()
    return found
