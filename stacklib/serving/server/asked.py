"""The body of a request, read field by field: what is meant, or what is wrong with it.

A field nobody knows is refused with the nearest, since one that is misspelt would
otherwise be ignored without a word. Fields of OpenAI's that this server has no use for
are taken at the values that ask for nothing.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, NoReturn

from stacklib.quantity.bounds import is_whole
from stacklib.quantity.names import UnknownName, resolve
from stacklib.serving.masks.mask import Mask
from stacklib.serving.masks.masks import json_mask, schema_mask
from stacklib.tinylm import Sampling, TinyLM, Tokenizer

from .refused import Refused

MOST_CHOICES, MOST_STOPS, MOST_TOP, MOST_SEED = 32, 4, 20, 2**64
ROLES = ("system", "developer", "user", "assistant")
Encoder = Callable[[str, str], tuple[int, ...]]


@dataclass(frozen=True)
class Asked:
    """What a body asks for: so many answers to each prompt, all by the same rules."""

    chat: bool
    model: str
    prompts: tuple[tuple[int, ...], ...]
    n: int
    most: int | None  # none: as many as the context has room for
    sampling: Sampling
    stop: tuple[str, ...]
    seed: int
    logprobs: int | None
    stream: bool
    include_usage: bool
    mask: Callable[[], Mask] | None

    @property
    def choices(self) -> list[tuple[tuple[int, ...], int]]:
        """Prompt and seed of each answer, in their order."""
        return [
            (prompt, (self.seed + at) % MOST_SEED)
            for prompt in self.prompts
            for at in range(self.n)
        ]


def wrong(name: str, value: Any, needed: str) -> NoReturn:
    """Refuse the value of a field."""
    shown = f"{value!r:.60}"
    raise Refused(400, f"{name} = {shown}: {needed} is needed", param=name)


class Field(NamedTuple):
    """What the value of a field has to be, in words and as a test."""

    needed: str
    fine: Callable[[Any], bool]


def number(low: float, high: float, above: bool = False) -> Field:
    """A number from ``low`` to ``high``; no truth value, no NaN."""

    def fine(x: Any) -> bool:
        real = isinstance(x, int | float) and not isinstance(x, bool)
        return real and low <= x <= high and not (above and x == low)

    return Field(f"a number {'above' if above else 'from'} {low} to {high}", fine)


def integer(low: int, high: int | None = None) -> Field:
    """A whole number from ``low``, to ``high`` if there is one."""
    needed = f"a whole number from {low}" + (f" to {high}" if high is not None else "")
    most = math.inf if high is None else high
    return Field(needed, lambda x: is_whole(x) and low <= x <= most)


def nothing(value: Any) -> Field:
    """A value that asks for nothing; a truth value is no number."""
    kind, needed = isinstance(value, bool), f"{value!r} (nothing else is supported)"
    return Field(needed, lambda x: x == value and isinstance(x, bool) == kind)


def stops(value: Any) -> bool:
    """Whether it is one stop string or a few."""
    found = [value] if isinstance(value, str) else value
    few = isinstance(found, list) and len(found) <= MOST_STOPS
    return few and all(isinstance(each, str) and each for each in found)


def options(value: Any) -> bool:
    """Whether it is ``include_usage`` or nothing."""
    known = isinstance(value, dict) and not value.keys() - {"include_usage"}
    return known and isinstance(value.get("include_usage", False), bool)


FLAG = Field("true or false", lambda x: isinstance(x, bool))
TEXT = Field("text", lambda x: isinstance(x, str))
ANY = Field("", lambda x: True)
FIELDS: dict[str, Field] = {
    "model": TEXT,
    "max_tokens": integer(1),
    "temperature": number(0, 2),
    "top_p": number(0, 1, above=True),
    "top_k": integer(0),
    "min_p": number(0, 1),
    "n": integer(1, MOST_CHOICES),
    "stream": FLAG,
    "stream_options": Field('{"include_usage": true or false}', options),
    "stop": Field(f"text, or a list of at most {MOST_STOPS} texts,", stops),
    "seed": integer(-(2**63), 2**63 - 1),
    "user": TEXT,
    "response_format": ANY,
    # Fields of OpenAI's that this server has no use for.
    "echo": nothing(False),
    "best_of": nothing(1),
    "suffix": nothing(""),
    "presence_penalty": nothing(0),
    "frequency_penalty": nothing(0),
    "logit_bias": nothing({}),
    "tools": nothing([]),
    "tool_choice": nothing("none"),
    "modalities": nothing(["text"]),
    "store": nothing(False),
    "parallel_tool_calls": ANY,
    "metadata": ANY,
    "service_tier": ANY,
    "safety_identifier": ANY,
    "prompt_cache_key": ANY,
}
OF_COMPLETIONS = {"prompt": ANY, "logprobs": integer(0, 5)}
OF_CHAT = {
    "messages": ANY,
    "max_completion_tokens": integer(1),
    "logprobs": FLAG,
    "top_logprobs": integer(0, MOST_TOP),
}


def decoded(body: bytes) -> dict[str, Any]:
    """The body as a JSON object."""
    try:
        found = json.loads(body, parse_constant=no_number)
    except (ValueError, RecursionError) as why:
        raise Refused(400, f"the body is not JSON: {why}") from None
    if not isinstance(found, dict):
        raise Refused(400, f"the body is {type(found).__name__}: an object is needed")
    return found


def no_number(name: str) -> NoReturn:
    """NaN and infinities, which JSON does not have but Python reads."""
    raise ValueError(f"{name} is no JSON")


def asked(body: bytes, model: TinyLM, chat: bool) -> Asked:
    """What a body asks of a model; ``Refused`` where it is wrong.

    A seed that is not given is drawn.
    """
    found = {name: v for name, v in decoded(body).items() if v is not None}
    check(found, FIELDS | (OF_CHAT if chat else OF_COMPLETIONS))
    if found.get("model") != model.name:
        named(found.get("model"), model.name)
    if "stream_options" in found and not found.get("stream"):
        raise Refused(400, "stream_options without stream", param="stream_options")
    limit = model.config.max_position_embeddings
    most = found.get("max_tokens", None if chat else 16)
    most = found.get("max_completion_tokens", most)  # of chat alone
    read_text = reader(model.tokenizer, limit, most)
    if chat:
        prompts = [messages(found.get("messages"), read_text)]
        logprobs = found.get("top_logprobs", 0) if found.get("logprobs") else None
        if logprobs is None and "top_logprobs" in found:
            raise Refused(400, "top_logprobs without logprobs", param="top_logprobs")
    else:
        prompts = texts(found.get("prompt", ""), read_text)
        logprobs = found.get("logprobs")
    n = found.get("n", 1)
    if len(prompts) * n > MOST_CHOICES:
        raise Refused(
            400, f"{len(prompts)} x {n} answers: at most {MOST_CHOICES}", param="n"
        )
    stop = found.get("stop", ())
    how = {name: found[name] for name in ("top_k", "top_p", "min_p") if name in found}
    sampling = Sampling(found.get("temperature", 1.0), **how)
    mask = mask_of(found.get("response_format", {"type": "text"}), model.tokenizer)
    seed = found.get("seed", secrets.randbits(63)) % MOST_SEED
    counts = found.get("stream_options", {}).get("include_usage", False)
    ends = (stop,) if isinstance(stop, str) else tuple(stop)
    asks = chat, model.name, tuple(prompts), n, most, sampling
    streams = found.get("stream", False)
    return Asked(*asks, ends, seed, logprobs, streams, counts, mask)


def check(given: Mapping[str, Any], fields: Mapping[str, Field]) -> None:
    """Refuse a field that is none, and a value that its row does not allow."""
    for name, value in given.items():
        if name not in fields:
            try:
                resolve(name[:60], fields, "field", exact=True)
                raise UnknownName(f"unknown field {name!r:.60}")  # but for its case
            except UnknownName as why:
                raise Refused(400, str(why), param=name) from None
        if not fields[name].fine(value):
            wrong(name, value, fields[name].needed)


def named(given: str | None, own: str) -> NoReturn:
    """Refuse a model that is not served."""
    if given is None:
        raise Refused(400, f"model is missing: {own!r} is served", param="model")
    raise Refused(
        404,
        f"model {given!r:.60} does not exist here\nserved: {own}",
        param="model",
        code="model_not_found",
    )


def texts(prompt: Any, encoded: Encoder) -> list[tuple[int, ...]]:
    """Tokens of the prompts: text, texts, tokens or lists of tokens."""
    several = isinstance(prompt, list) and not all(is_whole(each) for each in prompt)
    held = prompt if several else [prompt]
    if not held or len(held) > MOST_CHOICES:
        wrong("prompt", prompt, f"1 to {MOST_CHOICES} prompts")
    found = []
    for each in held:
        if isinstance(each, str):
            found.append(encoded("prompt", each))
        elif isinstance(each, list) and each and all(is_whole(token) for token in each):
            found.append(tuple(each))
        else:
            wrong("prompt", each, "text or a list of tokens")
    return found


def messages(given: Any, encoded: Encoder) -> tuple[int, ...]:
    """Tokens of a conversation: its texts, an empty line between.

    The model was trained to go on with a text and knows no roles. No word is put into
    its mouth: whoever said what, it goes on where the last message ends.
    """
    if not isinstance(given, list) or not given:
        wrong("messages", given, "a list of at least one message")
    said = []
    for at, each in enumerate(given):
        if not isinstance(each, dict) or each.get("role") not in ROLES:
            wrong(f"messages[{at}]", each, f"an object with a role of {ROLES}")
        said.append(content(f"messages[{at}].content", each.get("content")))
    return encoded("messages", "\n\n".join(said))


def content(name: str, value: Any) -> str:
    """The text of a message: whole, or in parts."""
    parts = [{"type": "text", "text": value}] if isinstance(value, str) else value
    if not isinstance(parts, list):
        wrong(name, value, "text")
    for part in parts:
        known = isinstance(part, dict) and part.get("type") == "text"
        if not known or not isinstance(part.get("text"), str):
            wrong(name, part, 'a part {"type": "text", "text": ...}')
    return "".join(part["text"] for part in parts)


def reader(tokenizer: Tokenizer, limit: int, most: int | None) -> Encoder:
    """Tokens of a text, behind the token that begins a document.

    One that cannot fit, however it is cut, is refused before it is read: a megabyte
    without a space takes long.
    """
    longest = max(map(len, tokenizer.spelled))

    def encoded(name: str, text: str) -> tuple[int, ...]:
        data = text.encode("utf-8", "surrogatepass")
        least = 1 + math.ceil(len(data) / longest)
        if least >= limit:
            tokens = f"at least {least} + {most or 1} = {least + (most or 1)} tokens"
            raise Refused(
                400,
                f"{name}: {tokens}: a context of {limit}",
                param=name,
                code="context_length_exceeded",
            )
        return (tokenizer.end, *tokenizer.encode(data))

    return encoded


def mask_of(given: Any, tokenizer: Tokenizer) -> Callable[[], Mask] | None:
    """What ``response_format`` asks for; its grammar is made here, once."""
    name = "response_format"
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "text":
        return None
    if kind == "json_object":
        make = partial(json_mask, tokenizer)
    elif kind == "json_schema":
        held = given.get("json_schema")
        if not isinstance(held, dict) or "schema" not in held:
            wrong(f"{name}.json_schema", held, "an object with a schema")
        make = partial(schema_mask, held["schema"], tokenizer)
    else:
        wrong(name, given, "a type of text, json_object or json_schema")
    try:
        make()
    except ValueError as why:
        raise Refused(400, str(why), param=name) from None
    return make
