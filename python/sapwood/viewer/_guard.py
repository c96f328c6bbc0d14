"""Who may talk to the viewer: pages that it has served itself, not those of other sites that the same browser shows."""

from __future__ import annotations

import http
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def refusal(host: str | None, origin: str | None, listening: str) -> str | None:
    """Why a request with these headers is refused, of a server that listens at an address; None where it is not.

    A site that resolves its own name to this machine is told by ``Host``, one whose page opens a connection by
    ``Origin``.
    """
    name = urlsplit(f"//{host}").hostname if host else None
    if listening in LOOPBACK and name not in LOOPBACK:
        return f"Host is {host}: expected localhost"
    if origin is not None and urlsplit(origin).netloc != host:
        return f"Origin is {origin}: expected http://{host}, the viewer's own page"
    return None


@contextmanager
def guarded(listening: str) -> Iterator[None]:
    """Has a server of ``websockets`` that begins meanwhile refuse such requests."""
    import websockets.asyncio.server as server

    begin: Any = server.serve

    def serve(*args: Any, process_request: Any = None, **options: Any) -> Any:  # noqa: ANN401 - as websockets has it
        async def checked(connection: Any, request: Any) -> Any:  # noqa: ANN401
            reason = refusal(request.headers.get("Host"), request.headers.get("Origin"), listening)
            if reason is not None:
                return connection.respond(http.HTTPStatus.FORBIDDEN, reason + "\n")
            answer = process_request(connection, request) if process_request is not None else None
            return await answer if inspect.isawaitable(answer) else answer

        return begin(*args, process_request=checked, **options)

    server.serve = serve  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        server.serve = begin  # type: ignore[misc]
