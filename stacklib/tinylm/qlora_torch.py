"""LoRA on frozen NF4 weights (QLoRA: Dettmers et al., arXiv 2305.14314, section 3).

Block matrices are kept packed, four bits a number and their scales quantized again;
each is expanded where its product needs it, forward and again backward, and forgotten.
What learns is a product of two thin matrices beside each (LoRA: Hu et al., arXiv
2106.09685, section 4). The model has read no code, only what modules say of
themselves: here it learns code from the standard library.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantizers import dequantize, pack, quantize, unpack

from .config import Config, shapes
from .corpus import Document
from .low_precision.runs import QloraMemory, qlora_memory
from .model import TinyLM, load
from .model_torch import Decoder
from .perplexity import Score, bits_per_byte, difference, score
from .recipes import Recipe
from .train_torch import batch_at, text_loss, token_stream

SCHEME = "nf4_dq"
ALPHA = 16.0  # the adapter's product is weighed by this over its rank
PACKAGES = ("asyncio", "concurrent", "email", "http", "json", "logging")
HELD_OUT_OF = 8  # one file of code in this many is never trained on
SCORED = 3_000  # characters of such a file that are scored


class Packed:
    """A matrix in NF4: its bytes, and its shape.

    - ``weight``: (rows, columns), fp32.
    """

    def __init__(self, weight: Tensor) -> None:
        self.shape = tuple(weight.shape)
        data = bytearray(pack(quantize(weight.detach().numpy(), SCHEME)))
        self.bytes = torch.frombuffer(data, dtype=torch.uint8)

    def expand(self) -> Tensor:
        """The numbers, as fp32."""
        data = self.bytes.numpy().tobytes()
        return torch.from_numpy(dequantize(unpack(data, SCHEME, self.shape)))


class _Frozen(torch.autograd.Function):
    """x @ w.T for a packed w: nothing is kept for the backward pass but w itself."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, packed: Packed) -> Tensor:
        ctx.packed = packed
        return x @ packed.expand().T

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient @ ctx.packed.expand(), None


class _Operand:
    """A frozen matrix and its adapter as `Decoder` meets them in ``x @ w.T``."""

    def __init__(self, packed: Packed, down: Tensor, up: Tensor) -> None:
        self.packed, self.down, self.up = packed, down, up

    @property
    def T(self) -> _Operand:
        return self

    def __rmatmul__(self, x: Tensor) -> Tensor:
        frozen: Callable[..., Tensor] = _Frozen.apply
        learned = x @ self.down.T @ self.up.T
        return frozen(x, self.packed) + learned * (ALPHA / len(self.down))

    def merged(self) -> Tensor:
        """Both as one matrix."""
        learned = self.up.detach() @ self.down.detach()
        return self.packed.expand() + learned * (ALPHA / len(self.down))


class Adapted(Decoder):
    """`Decoder` with packed block matrices, bf16 for the rest, and adapters to train.

    - ``config``: sizes.
    - ``weights``: the base model's, by their Hugging Face names.
    - ``rank``: of every adapter.
    - ``seed``: of the first adapters; their product is zero.
    - ``recompute``: whether a layer keeps its input only.
    """

    def __init__(
        self,
        config: Config,
        weights: Mapping[str, Any],
        *,
        rank: int,
        seed: int = 0,
        recompute: bool = True,
    ) -> None:
        whole(rank=rank)
        whole(0, seed=seed)
        super().__init__(config, recompute=recompute)
        random = torch.Generator().manual_seed(seed)
        self.packed: dict[str, Packed] = {}
        self.adapters = nn.ParameterDict()
        for name in shapes(config):
            weight = torch.as_tensor(weights[name])
            key = name.replace(".", "/")
            if not name.endswith("proj.weight"):
                kept = weight.to(torch.bfloat16)
                self.weights[key] = nn.Parameter(kept, requires_grad=False)
                continue
            del self.weights[key]
            self.packed[name] = Packed(weight)
            rows, columns = weight.shape
            down = torch.randn(rank, columns, generator=random) / columns**0.5
            self.adapters[f"{key}/down"] = nn.Parameter(down)
            self.adapters[f"{key}/up"] = nn.Parameter(torch.zeros(rows, rank))

    def weight(self, name: str) -> Any:
        """One weight by its Hugging Face name, as its product meets it."""
        if name not in self.packed:
            return super().weight(name).float()
        key = name.replace(".", "/")
        low = self.adapters[f"{key}/down"], self.adapters[f"{key}/up"]
        return _Operand(self.packed[name], *low)

    def named(self) -> dict[str, Tensor]:
        """All weights, adapters merged into theirs."""
        found = {name: self.weight(name) for name in shapes(self.config)}
        return {
            name: w.merged() if isinstance(w, _Operand) else w.detach()
            for name, w in found.items()
        }

    def assign(self, weights: Mapping[str, Any]) -> None:
        """Refused: packed weights are frozen."""
        raise TypeError("the base is frozen: build another Adapted from other weights")


def code() -> list[Document]:
    """Modules of the standard library with their code, in order of their paths."""
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = (p for package in PACKAGES for p in sorted((root / package).rglob("*.py")))
    texts = [(p.relative_to(root).as_posix(), p.read_text("utf-8")) for p in paths]
    return [Document(f"code/{name}", text) for name, text in texts if text.strip()]


@dataclass(frozen=True, slots=True)
class QloraRun:
    """What training adapters on a frozen NF4 model came to.

    - ``losses``: mean nats a token of every step.
    - ``base``, ``before``, ``after``: cost of each held-out file: of the
      unquantized model, with NF4 weights, and with the adapters as they ended.
    - ``measured``: bytes of tensors, as `measured_bytes` names them.
    - ``sheet``: what was worked out for them.
    - ``model``: base and adapters merged.
    """

    losses: tuple[float, ...]
    base: list[Score]
    before: list[Score]
    after: list[Score]
    measured: dict[str, int]
    sheet: QloraMemory
    model: TinyLM

    def told(self) -> dict[str, Any]:
        """What is stored of it: bits a byte with intervals, and bytes."""
        ways = {"base": self.base, "before": self.before, "after": self.after}
        scores = {name: bits_per_byte(found) for name, found in ways.items()}
        gain = difference(self.after, self.before)
        parts = {name: part.si for name, part in self.sheet.parts.items()}
        parts["base"] = parts.pop("weights") + parts.pop("scales")
        return {
            "losses": self.losses,
            "bits_per_byte": {n: [s.value, s.low, s.high] for n, s in scores.items()},
            "less": [gain.value, gain.low, gain.high],
            "measured": self.measured,
            "sheet": {name: parts[name] for name in self.measured},
        }


def qlora(
    model: TinyLM | str = "tiny",
    steps: int = 100,
    rank: int = 8,
    seed: int = 0,
    *,
    documents: Sequence[Document] | None = None,
    batch: int = 4,
    tokens: int = 128,
    rate: float = 5e-3,
) -> QloraRun:
    """Train adapters on a model whose weights are frozen in NF4.

    - ``model``: the base.
    - ``steps``, ``rank``, ``seed``: updates; rank of every adapter; of first
      adapters and order of the text.
    - ``documents``: what is learned, of which every eighth is held out; default
      `code`.
    - ``batch``, ``tokens``: sequences of a step, tokens in each.
    - ``rate``: of Adam at the first step; it falls to nothing on a line.
    """
    whole(steps=steps, rank=rank, batch=batch, tokens=tokens)
    whole(0, seed=seed)
    above_zero(rate=rate)
    base = load(model) if isinstance(model, str) else model
    texts = code() if documents is None else list(documents)
    held = [
        Document(each.name, each.text[:SCORED])
        for each in texts[HELD_OUT_OF - 1 :: HELD_OUT_OF]
    ]
    if len(held) < 2:
        raise ValueError(
            f"{len(texts)} documents: every eighth is held out, and two must be"
        )
    stream = token_stream(
        [each for at, each in enumerate(texts, 1) if at % HELD_OUT_OF]
    )
    recipe = Recipe(steps=steps, batch=batch, tokens=tokens, seed=seed)
    student = Adapted(base.config, base.weights, rank=rank, seed=seed)
    optimizer = torch.optim.Adam(student.adapters.values(), lr=rate, betas=(0.9, 0.99))

    def scored(like: TinyLM) -> list[Score]:
        return score(like, held, base.tokenizer)

    before = scored(_merged(base, student))
    losses = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * (1 - step / steps)
        ids = batch_at(stream, recipe, step)
        optimizer.zero_grad()
        loss = text_loss(student(ids[:, :-1]), ids)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.adapters.values(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    final = _merged(base, student)
    # Products run in fp32 here, so that is what activations are held against.
    sheet, wide = (
        qlora_memory(
            base.architecture, rank=rank, batch=batch, context=tokens, dtype=dtype
        )
        for dtype in ("bf16", "fp32")
    )
    sheet = replace(sheet, checkpoints=wide.checkpoints, block=wide.block)
    ids = torch.zeros((batch, tokens), dtype=torch.long)
    measured = measured_bytes(student, optimizer) | kept_bytes(student, ids)
    return QloraRun(
        tuple(losses), scored(base), before, scored(final), measured, sheet, final
    )


def _merged(base: TinyLM, student: Adapted) -> TinyLM:
    weights = {name: w.numpy().copy() for name, w in student.named().items()}
    return replace(base, weights=weights)


def kept_bytes(model: Adapted, ids: Tensor) -> dict[str, int]:
    """Bytes that autograd keeps of a forward pass that will run layers again.

    - ``model``: with ``recompute``.
    - ``ids``: of one step, (batch, tokens).

    Gives ``checkpoints``, the inputs of all layers; ``block``, what the first
      layer keeps when it runs again.
    """
    x = torch.zeros(*ids.shape, model.config.hidden_size, requires_grad=True)
    known = [*model.adapters.values(), model.cos, model.sin]
    head = _saved_by(lambda: model.logits(x))
    whole = _saved_by(lambda: model(ids))
    return {
        "checkpoints": whole - head,
        "block": _saved_by(lambda: model.block(x, 0), known),
    }


def _saved_by(run: Callable[[], Any], known: Any = ()) -> int:
    """Bytes of the storages that autograd keeps of a call, those known not counted."""
    kept: dict[int, Any] = {}
    apart = {tensor.untyped_storage().data_ptr() for tensor in known}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage  # held, so that no address comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = run()
    del result
    return sum(found.nbytes() for at, found in kept.items() if at not in apart)


def measured_bytes(model: Adapted, optimizer: torch.optim.Optimizer) -> dict[str, int]:
    """Bytes of every tensor that stays from step to step.

    - ``model``: after a backward pass.
    - ``optimizer``: after a step.

    Gives ``base`` (packed weights and scales), ``kept``, ``adapters``,
      ``gradients``, ``optimizer``.
    """
    learned = list(model.adapters.values())
    moments = [
        value
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, Tensor) and value.dim()  # its count of steps apart
    ]

    def size(tensors: Any) -> int:
        found = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in tensors}
        return sum(storage.nbytes() for storage in found.values())

    return {
        "base": size(packed.bytes for packed in model.packed.values()),
        "kept": size(model.weights.values()),
        "adapters": size(learned),
        "gradients": size(p.grad for p in learned if p.grad is not None),
        "optimizer": size(moments),
    }
