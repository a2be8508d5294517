"""The server that reads prompts for one that writes answers.

Both are this server: one has ``/blocks``, the other asks there before it puts a request
in line. What has crossed is found by the engine as what it had computed itself; where
less came than was asked for, it computes the rest. Whatever breaks on the way is told
to the client, whose request was then not begun.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..pools.exchange import same
from .refused import Refused

PATH = "/blocks"
PATIENCE = 20.0  # seconds without a byte
AT_ONCE = 32  # prompts that the peer is asked for
BROKEN = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class Peer:
    """Where prompts are read.

    - ``head``: what its blocks must be
    - ``pool``: threads that wait for it: others of the server do not
    """

    host: str
    port: int
    head: dict[str, Any]
    pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(AT_ONCE, "peer"), repr=False
    )

    def __str__(self) -> str:
        return f"peer {self.host}:{self.port}"

    def check(self) -> None:
        """Look whether it is there and has the same model and size of blocks.

        - raises ``ValueError`` naming it and what is wrong
        """
        try:
            status, data = self._asked("GET")
            said = json.loads(data)
        except BROKEN as why:
            raise ValueError(
                f"{self}: {why or type(why).__name__}; first start one with "
                "stacklib serve --role prefill"
            ) from None
        except ValueError:
            status, said = 0, {}
        if status != 200 or "block_size" not in said:
            raise ValueError(f"{self}: no server with --role prefill")
        try:
            same(said, self.head)
        except ValueError as why:
            raise ValueError(f"{self}: {why}") from None

    def blocks(self, model: str, prompt: Sequence[int]) -> bytes:
        """What it has computed of a prompt; ``Refused`` naming it where it has not."""
        asked = {"model": model, "prompt": list(prompt), "max_tokens": 1}
        try:
            status, data = self._asked("POST", json.dumps(asked | {"temperature": 0}))
        except BROKEN as why:
            raise self.lost(why or type(why).__name__) from None
        if status == 200:
            return data
        try:
            said = json.loads(data)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            said = f"status {status}"
        if status in (400, 429):
            raise Refused(status, f"{self}: {said}", retry=1 if status == 429 else None)
        raise self.lost(said)

    def lost(self, why: Any) -> Refused:
        """A request that was not begun because of the peer."""
        return Refused(
            503, f"{self}: {why}; the request was not begun, send it again", retry=1
        )

    def _asked(self, method: str, body: str | None = None) -> tuple[int, bytes]:
        link = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            link.request(method, PATH, body)
            answer = link.getresponse()
            return answer.status, answer.read()
        finally:
            link.close()
