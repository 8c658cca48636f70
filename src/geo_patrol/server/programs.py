"""Programs that play: the server's messages on their standard input, theirs on their standard output, one a line."""

import shlex
import subprocess
from types import TracebackType
from typing import Self

from geo_patrol.errors import AgentError
from geo_patrol.server.models import Message
from geo_patrol.server.protocol import MAX_MESSAGE_BYTES, Error, ProtocolError, YourTurn, read_client_message


class ProgramPlayer:
    """Plays a seat by a program, which answers by a line: every ``YourTurn`` without orders, and every ``Error`` it receives.

    It receives those errors that other orders would correct.

    Args:
        command: the program with its arguments, as for a shell.

    Raises:
        AgentError: it cannot be started.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except (OSError, ValueError, IndexError) as error:
            raise AgentError(f"command {command!r} cannot be started: {error}") from None

    def handle(self, message: Message) -> list[Message]:
        """Send a message to the program; return its answer.

        Raises:
            AgentError: it has ended, or answers something else than a message.
        """
        if isinstance(message, Error) and message.code not in {"bad_message", "bad_order"}:
            return []  # orders that came too late, for instance: there is nothing to answer
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(message.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise AgentError(f"command {self._command!r} has ended") from None
        if not (isinstance(message, Error) or (isinstance(message, YourTurn) and message.submitted is None)):
            return []
        line = self._process.stdout.readline(MAX_MESSAGE_BYTES)
        if not line:
            raise AgentError(f"command {self._command!r} has ended")
        try:
            return [read_client_message(line)]
        except ProtocolError as error:
            raise AgentError(f"command {self._command!r}: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
