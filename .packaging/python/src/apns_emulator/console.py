"""The console's API: JSON over plain HTTP."""

from __future__ import annotations

import http.client
import json
from typing import Any, Callable, Mapping, Optional
from urllib.parse import quote, urlencode

from .process import EmulatorError

PATIENCE = 30.0
"""Seconds for an answer that does not wait for anything."""


class ConsoleError(Exception):
    """A request that the emulator refused: a name that is none, a filter that makes no sense."""

    def __init__(self, status: int, body: Any) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        super().__init__(error["message"] if isinstance(error, dict) else f"the console answered {status}")
        self.status = status
        self.body = body


class Console:
    """One connection a request: may be used from several threads."""

    def __init__(self, host: str, port: int, access: Optional[str], last_words: Callable[[], str]) -> None:
        self._host, self._port, self._last_words = host, port, last_words
        self._headers = {"Authorization": f"Bearer {access}"} if access else {}

    def request(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, patience: float = PATIENCE) -> Any:
        """Sends a request, answers the JSON of the response. Raises ``ConsoleError`` unless that is 2xx, ``EmulatorError`` if nobody
        answers."""
        headers = dict(self._headers)
        if method != "GET":
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(self._host, self._port, timeout=patience)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            answer = json.loads(response.read() or b"null")
        except OSError as error:
            raise EmulatorError(f"the emulator does not answer ({error}); its last words:\n{self._last_words()}") from error
        finally:
            connection.close()
        if not 200 <= response.status < 300:
            raise ConsoleError(response.status, answer)
        return answer

    def get(self, path: str, query: Optional[Mapping[str, Any]] = None) -> Any:
        return self.request("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        return self.request("POST", path, body or {})


def escaped(part: str) -> str:
    """One part of a path."""
    return quote(part, safe="")
