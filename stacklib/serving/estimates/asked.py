"""What is asked of an estimate: its arguments, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from stacklib.hardware import THIS_MACHINE, Accelerator, get
from stacklib.quantity import resolve
from stacklib.quantity.bounds import share, whole
from stacklib.quantity.keys import keys_of, values_of
from stacklib.roofline.work.bounds import device_of

from ..token import host
from ..token.account import CONTEXT, MODES, SOFTWARE, sized

SPLITS = ("tensors", "layers")
RUNNER = "runner"  # of one sequence at a time, as llama.cpp
PASS = 512  # tokens of a prompt that it reads at once: llama.cpp's ``n_ubatch``


class Draft(NamedTuple):
    """A draft that a step checks.

    - ``acceptance``: chance that a proposal is kept if all before it were
    - ``tokens``: proposals of a step
    - ``model``: who writes them; None: they cost nothing, as a look-up
    """

    acceptance: float
    tokens: int
    model: Any = None


class Asked(NamedTuple):
    """Arguments of ``estimate``, in their checked form."""

    model: Any  # as it was given
    on: Any
    dtype: Any
    kv_dtype: Any
    tp: int
    ep: int
    chunk: int | None
    draft: Draft | None
    split: str
    devices: tuple[Any, ...]
    host_layers: int
    software: str
    mode: str
    here: bool  # the book's own models on this machine
    batch: Any = 1
    context: Any = 0  # of the middle of what is written
    prompt: int = 0
    hit: int = 0  # tokens of the prompt that are found
    plain: bool = False  # floats or arrays, not quantities

    @property
    def easy(self) -> bool:
        """Whether a kept step answers."""
        plainly = self.plain and self.simple and self.software != RUNNER
        return plainly and not self.here

    @property
    def alike(self) -> bool:
        """Whether all chips are alike and share every matrix."""
        return not self.devices and self.split == "tensors" and not self.host_layers

    @property
    def simple(self) -> bool:
        """Whether the account of one kind of chips answers, with no draft."""
        return self.draft is None and self.alike

    @property
    def swept(self) -> bool:
        """Whether batch or context is an array."""
        shapes = (getattr(x, "shape", ()) for x in (self.batch, self.context))
        return any(shapes)

    @property
    def exchanges(self) -> str:
        """Whose exchanges they are."""
        return "engine" if self.software == RUNNER else self.software

    @property
    def keys(self) -> tuple[Any, ...]:
        """What a step is kept by."""
        names = keys_of(self.model, self.on, self.dtype, self.kv_dtype)
        return (*names, self.tp, self.ep)

    @property
    def account(self) -> dict[str, Any]:
        """Arguments of ``account`` for the step."""
        asked = {"dtype": self.dtype, "kv_dtype": self.kv_dtype, "tp": self.tp}
        asked |= {"ep": self.ep, "batch": self.batch, "context": self.context}
        return asked | {"software": self.exchanges, "mode": self.mode}


def asked(
    named: tuple[Any, ...],
    sizes: tuple[Any, ...],
    prefix_hit: float,
    draft: Sequence[Any] | None,
    devices: Sequence[str | Accelerator] | None,
    how: tuple[Any, ...],
) -> Asked:
    """The arguments of ``estimate``, which describes them and what is refused.

    - ``named``: keys of model, device and formats
    - ``sizes``: batch, context, prompt and tokens that are written
    - ``how``: what else does not move with these, as `_fixed` takes it
    """
    batch, context, prompt, new = sizes
    listed = None if devices is None else keys_of(*devices)
    found = _fixed(named, draft_of(draft), listed, *how)
    if context is None:
        context = (found.here and host.longest(found.model)) or CONTEXT
    batch, context, plain = sized(batch, context)
    if new != 1 or new is True:
        whole(new=new)
        context = context + (int(new) - 1) // 2  # the middle of what is written
    tokens, hit = 0, 0
    if prompt is None:
        tokens = 0 if getattr(context, "shape", ()) else max(1, int(context))
    else:
        whole(prompt=prompt)
        tokens = int(prompt)
    if prefix_hit:
        share(prefix_hit=prefix_hit)
        # The last token is computed even where all of a prompt is found.
        hit = min(int(prefix_hit * tokens), max(0, tokens - 1))
    found = found._replace(
        batch=batch, context=context, prompt=tokens, hit=hit, plain=plain
    )
    if found.software == RUNNER and (found.swept or batch != 1):
        raise ValueError(f"batch = {batch}: a runner answers one sequence, so no sweep")
    return found


@lru_cache(maxsize=1024, typed=True)
def _fixed(
    named: tuple[Any, ...],
    draft: Draft | None,
    devices: tuple[Any, ...] | None,
    tp: int,
    ep: int,
    chunk: int | None,
    split: str,
    host_layers: int,
    software: str,
    mode: str,
) -> Asked:
    """What neither batch nor context nor prompt move, checked once."""
    model, on, dtype, kv_dtype = values_of(*named)
    for name, value, known in (
        ("mode", mode, MODES),
        ("software", software, (*SOFTWARE, RUNNER)),
        ("split", split, SPLITS),
    ):
        if value not in known:
            resolve(value, known, name, exact=True)  # raises, with the nearest
    whole(tp=tp, ep=ep)
    whole(0, host_layers=host_layers)
    if chunk is not None:
        whole(chunk=chunk)
    elif software == RUNNER:
        chunk = PASS
    if software == RUNNER and (ep != 1 or draft is not None):
        raise ValueError(f"ep = {ep}, draft = {draft}: of an engine, not of a runner")
    listed = () if devices is None else values_of(*devices)
    if devices is not None and len(listed) < 2:
        raise ValueError(f"devices = {list(listed)}: two at least, or none for ``on``")
    if mode == "calibrated":
        for device in (on, *listed):
            _as_published(device)
    if (listed or split == "layers" or host_layers) and ep > 1:
        raise ValueError(f"ep = {ep}: experts are shared out over alike chips alone")
    here, parts = device_of(on).key == THIS_MACHINE, int(host_layers)
    how = int(tp), int(ep), chunk and int(chunk), draft, split, listed, parts
    return Asked(model, on, dtype, kv_dtype, *how, software, mode, here)


def _as_published(device: Any) -> None:
    """Raise for a device that was changed: calibrated lines know it by its key."""
    if not isinstance(device, Accelerator) or device.key == THIS_MACHINE:
        return
    if device != get(device.key):
        raise ValueError(
            f"on = {device!r}: its fields differ from those of {device.key}, on which "
            'the calibrated models were fitted; mode="limit" takes it as it is'
        )


def draft_of(given: Any) -> Draft | None:
    """A draft as asked for; ValueError for what is none."""
    if given is None:
        return None
    try:
        found = Draft(*given)
    except TypeError:
        raise ValueError(
            f"draft = {given!r}: an acceptance, draft tokens and, if it is one, the "
            "model that writes them: (0.7, 4, 'llama-3-8b')"
        ) from None
    share(acceptance=found.acceptance)
    whole(draft_tokens=found.tokens)
    return found
