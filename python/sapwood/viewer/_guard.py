"""Who may talk to the viewer: who has its address with the token, from pages that it has served itself.

Other sites that the same browser shows do not have the token, nor do other users of the machine.
"""

from __future__ import annotations

import http
import inspect
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
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


class Guard:
    """Refuses requests to the server of a viewer.

    Attributes:
        listening: The address at which the server listens.
        token: What the path of a request has to begin with. The client opens its connection below the path of its page.
    """

    listening: str
    token: str

    def __init__(self, listening: str) -> None:
        self.listening, self.token = listening, secrets.token_urlsafe(16)

    def refusal(self, path: str, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused; None where it is not."""
        try:
            reason = refusal(headers.get("Host"), headers.get("Origin"), self.listening)
        # Of what is no address, and of a header that is given twice.
        except (ValueError, LookupError) as error:
            return f"Host or Origin: {error}"
        given = "".join(path.partition("?")[0].split("/")[1:2])
        if reason is None and not secrets.compare_digest(given.encode(), self.token.encode()):
            return "the token is missing: open the address that the viewer has printed, all of it"
        return reason

    @contextmanager
    def on_servers(self) -> Iterator[None]:
        """Guards servers of ``websockets`` that begin meanwhile."""
        import websockets.asyncio.server as server

        begin: Any = server.serve

        def serve(*args: Any, process_request: Any = None, **options: Any) -> Any:  # noqa: ANN401 - as websockets has it
            async def checked(connection: Any, request: Any) -> Any:  # noqa: ANN401
                reason = self.refusal(request.path, request.headers)
                if reason is not None:
                    return connection.respond(http.HTTPStatus.FORBIDDEN, f"sapwood: {reason}\n")
                if process_request is None:
                    return None
                inside = replace(request, path=request.path.removeprefix(f"/{self.token}") or "/")
                answer = process_request(connection, inside)
                return await answer if inspect.isawaitable(answer) else answer

            # A browser that does not answer should not hold up the end: websockets would wait for it 10 s.
            options.setdefault("close_timeout", 0.3)
            return begin(*args, process_request=checked, **options)

        server.serve = serve  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            server.serve = begin  # type: ignore[misc]
