"""Requests: from pages of this server, with bounded bodies that are checked by their models."""

import asyncio
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from geo_patrol.errors import optional_import
from geo_patrol.server.protocol import ProtocolError

with optional_import("server"):
    from starlette.requests import HTTPConnection, Request

MAX_BODY_BYTES = 1 << 17
_BODY_SECONDS = 20.0
BodyT = TypeVar("BodyT", bound=BaseModel)


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


async def read_body(request: Request, model: type[BodyT]) -> BodyT:
    """Return the body of a request that does not come from another site's page.

    Raises:
        ProtocolError: it does, its body is too long or slow, or is not what the model describes; the field is named.
    """
    check_origin(request.headers.get("origin"), request.headers.get("host"))
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body = await _read_stream(request)
    except TimeoutError:
        raise ProtocolError("closed", f"the body did not arrive in {_BODY_SECONDS:g} s") from None
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, fault["loc"])) or "body"
        raise ProtocolError("bad_message", f"{field}: {fault['msg']}") from None


async def _read_stream(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ProtocolError("bad_message", f"the body is longer than {MAX_BODY_BYTES:,} bytes")
    return bytes(body)


def check_origin(origin: str | None, host: str | None) -> None:
    """Check that a request comes from a page of this server, or from no page at all.

    Raises:
        ProtocolError: it comes from another site's page.
    """
    if origin is not None and (host is None or origin not in (f"http://{host}", f"https://{host}")):
        raise ProtocolError("wrong_secret", "requests from pages of other sites are refused")


def client_address(connection: HTTPConnection) -> str | None:
    """Return where a client is: what a reverse proxy on this computer says of it, or the address of its connection."""
    return None if connection.client is None else connection.client.host
