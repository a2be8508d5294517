"""What a server does not do: a status, and an error in the shape clients raise."""

from __future__ import annotations

from typing import Any

# Kinds of error by status, as OpenAI names them.
KINDS = {429: "rate_limit_error", 500: "server_error", 503: "server_error"}


class Refused(Exception):
    """A request that is answered with an error.

    - ``status``: 400, 404, 413, 429 or 503.
    - ``param``: the field that is wrong; ``code``: a word programs look for.
    - ``retry``: seconds after which to ask again.
    """

    def __init__(
        self,
        status: int,
        message: str,
        param: str | None = None,
        code: str | None = None,
        retry: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code
        self.headers = {} if retry is None else {"Retry-After": str(retry)}

    @property
    def body(self) -> dict[str, Any]:
        """The answer, as JSON in OpenAI's shape."""
        # A field's name may hold half of a pair, which JSON spells and UTF-8 cannot.
        param = self.param and self.param.encode(errors="backslashreplace").decode()
        said = {"message": str(self), "param": param, "code": self.code}
        return {
            "error": {"type": KINDS.get(self.status, "invalid_request_error")} | said
        }
