"""Answers in OpenAI's shapes: whole, or as a stream of chunks."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator, Iterable
from itertools import accumulate
from typing import Any

from stacklib.serving.engine.request import Piece
from stacklib.tinylm import Tokenizer

from .asked import Asked
from .refused import Refused
from .worker import Answer, Moved

REASONS = {
    "length": "length",
    "stop": "stop",
    "mask": "stop",
    "cancelled": None,
    "failed": None,
}


class Shape:
    """How the answer to one request is written."""

    def __init__(self, asked: Asked, answer: Answer, tokenizer: Tokenizer) -> None:
        self.asked = asked
        self.answer = answer
        self.tokenizer = tokenizer
        self.sent = [0] * len(asked.choices)  # characters, of each choice
        self.head = {
            "id": f"{'chatcmpl' if asked.chat else 'cmpl'}-{uuid.uuid4().hex}",
            "object": "chat.completion" if asked.chat else "text_completion",
            "created": int(time.time()),
            "model": asked.model,
        }

    def usage(self) -> dict[str, Any]:
        """Tokens read and made; a prompt counts once, however many answers it gets."""
        firsts = self.answer.requests[:: self.asked.n]
        prompt = sum(len(request.tokens) for request in firsts)
        made = sum(len(request.output) for request in self.answer.requests)
        cached = sum(request.cached for request in firsts)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": made,
            "total_tokens": prompt + made,
            "prompt_tokens_details": {"cached_tokens": cached},
        }

    def logprobs(self, pieces: Iterable[Piece], offset: int) -> dict[str, Any] | None:
        """Logarithms of probabilities; None where nobody asked."""
        if self.asked.logprobs is None:
            return None
        held = [piece for piece in pieces if piece.token is not None]
        if self.asked.chat:
            content = [
                {
                    **self.token(piece.token, piece.logprob),
                    "top_logprobs": [self.token(*each) for each in piece.top],
                }
                for piece in held
            ]
            return {"content": content, "refusal": None}
        offsets = accumulate((len(piece.text) for piece in held), initial=offset)
        return {
            "tokens": [self.spelled(piece.token) for piece in held],
            "token_logprobs": [piece.logprob for piece in held],
            "top_logprobs": [
                {self.spelled(token): p for token, p in piece.top} for piece in held
            ],
            "text_offset": [*offsets][:-1],
        }

    def spelled(self, token: int | None) -> str:
        """A token as text; half a character as its bytes, so that none are alike."""
        data = self.tokenizer.decode([] if token is None else [token])
        return data.decode("utf-8", "backslashreplace")

    def token(self, token: int | None, logprob: float | None) -> dict[str, Any]:
        """A token with what the model gave it, as chat answers have it."""
        data = self.tokenizer.decode([] if token is None else [token])
        return {"token": self.spelled(token), "logprob": logprob, "bytes": list(data)}

    def whole(self) -> dict[str, Any]:
        """All choices, when they have ended."""
        choices = []
        for index, request in enumerate(self.answer.requests):
            choice: dict[str, Any] = {
                "index": index,
                "finish_reason": REASONS[request.reason or "cancelled"],
                "logprobs": self.logprobs(request.pieces, 0),
            }
            if self.asked.chat:
                said = {"role": "assistant", "content": request.text, "refusal": None}
                choice["message"] = said
            else:
                choice["text"] = request.text
            choices.append(choice)
        return {**self.head, "choices": choices, "usage": self.usage()}

    def chunk(self, moved: Moved) -> dict[str, Any] | None:
        """What one step did for a choice; None where there is nothing to tell."""
        text = "".join(piece.text for piece in moved.pieces)
        logprobs = self.logprobs(moved.pieces, self.sent[moved.choice])
        if not (text or logprobs or moved.reason):
            return None
        self.sent[moved.choice] += len(text)
        choice = {
            "index": moved.choice,
            "finish_reason": REASONS[moved.reason] if moved.reason else None,
            "logprobs": logprobs,
            **({"delta": {"content": text}} if self.asked.chat else {"text": text}),
        }
        return self.chunked([choice])

    def chunked(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        """A chunk of some choices."""
        found = {**self.head, "choices": choices}
        if self.asked.chat:
            found["object"] = "chat.completion.chunk"
        return found | ({"usage": None} if self.asked.include_usage else {})

    async def events(self) -> AsyncIterator[bytes]:
        """The stream: who speaks, chunks, the usage if it was asked for, an end."""
        if self.asked.chat:
            delta = {"role": "assistant", "content": ""}
            for index in range(len(self.sent)):
                choice = {"index": index, "delta": delta, "finish_reason": None}
                yield event(self.chunked([choice]))
        try:
            async for moved in self.answer.read():
                found = self.chunk(moved)
                if found is not None:
                    yield event(found)
        except Refused as why:
            yield event(why.body)
            return
        if self.asked.include_usage:
            yield event(self.chunked([]) | {"usage": self.usage()})
        yield b"data: [DONE]\n\n"


def event(found: dict[str, Any]) -> bytes:
    """A server-sent event."""
    return f"data: {json.dumps(found, allow_nan=False)}\n\n".encode()
