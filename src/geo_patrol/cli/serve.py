"""``geo-patrol serve``: games over the network."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.base.errors import GeoPatrolError, optional_import, show
from geo_patrol.cli.options import ANY_AGENT, user_path
from geo_patrol.cli.output import InputError

if TYPE_CHECKING:
    from geo_patrol.web.app import Server

_MAX_OWN_TABLES = 400
"""Games in progress on one's own page, which may be opened to others: a quarter as many can be opened in an hour."""


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 opens it to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, metavar="N", help="Port to listen on.")] = 8000,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="HOST", help="A name under which it is reached, behind a proxy; repeatable."),
    ] = None,
    data: Annotated[
        Path,
        typer.Option(
            "--data", parser=user_path, metavar="FOLDER", help="Where games are stored; the same folder continues them."
        ),
    ] = Path("geo_patrol_games"),
    max_tables: Annotated[
        int, typer.Option("--max-tables", min=1, metavar="N", help="Maximum number of games in progress.")
    ] = 200,
    max_connections: Annotated[
        int,
        typer.Option("--max-connections", min=1, metavar="N", help="Connections from one address, of 2,000 in all."),
    ] = 500,
    keep_days: Annotated[
        float,
        typer.Option("--keep", min=1, metavar="DAYS", help="Remove classes that nobody has used for so long."),
    ] = 180.0,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="NAME", help=f"Allow an agent of your own in seats. Agents: {ANY_AGENT}."),
    ] = None,
) -> None:
    """Serve games to browsers and bots: tables with two seats, and any number of people who watch.

    Without --host only this computer can reach it. On a network, everybody there can open tables and make this computer
    play its agents. Put it behind a reverse proxy with TLS, because secrets travel in the messages.
    """
    check_pages()
    from geo_patrol.cli.compiling import compile_flight_games, compile_hidden_enemies, compile_search
    from geo_patrol.web.app import Server
    from geo_patrol.web.requests import LOCAL_HOSTS, is_local
    from geo_patrol.web.tables import TableStore

    host = _read_host("--host", host, "an address of this computer, such as 127.0.0.1, or 0.0.0.0 for all of them")
    if "*" in host:
        raise InputError(f"--host must be one address, or 0.0.0.0 for all of this computer's, got {host!r}")
    what = "a host name alone, such as play.example.org, or *.example.org for all that end so"
    names = [_read_host("--name", name, what) for name in names or ()]
    compile_search()  # for hints: compiling later would stop all games for a while
    compile_flight_games()
    tables = TableStore(data, max_tables, frozenset(agents or ()))
    hosts = (*LOCAL_HOSTS, host, *names) if is_local(host) or names else ("*",)
    server = Server(tables, hosts, max_connections, host, keep_days, later=[compile_hidden_enemies])
    if not is_local(host):
        typer.echo(
            f"Everybody who reaches {host} can open tables and use this computer's time. Messages are not encrypted "
            "without a reverse proxy with TLS: docs/play/server.md.",
            err=True,
        )
    _allow_files()
    _run(server.app(), host, port, f"{len(tables.items)} tables, games in {data}")


def check_pages(otherwise: str = "") -> None:
    """Check that what serves pages is installed, before any work is done for it.

    Args:
        otherwise: what does without it, for the end of the message.

    Raises:
        MissingPackageError: a package is not installed.
    """
    with optional_import("play", otherwise):
        import segno  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401


def _read_host(option: str, text: str, what: str) -> str:
    from geo_patrol.web.requests import read_host, similar_host

    host = read_host(text)
    if host is None:
        similar = similar_host(text)
        hint = "" if similar is None else f"; did you mean {similar}?"
        raise InputError(f"{option} must be {what}, got {show(text)}{hint}")
    return host


def _run(app: Any, host: str, port: int, note: str) -> None:
    """Serve an application until the process is ended; print its address and a note once the port is its own."""
    import uvicorn

    from geo_patrol.web.local import bind, web_server
    from geo_patrol.web.requests import ALL_INTERFACES, network_address

    config = web_server(app, host, port)
    bound = bind(config)
    own_port = bound.getsockname()[1]
    if host in ALL_INTERFACES:  # no address that a browser opens everywhere, and none that is of use to others
        typer.echo(f"http://127.0.0.1:{own_port}/  {note}", err=True)
        typer.echo(f"In your network: http://{network_address() or 'ADDRESS-OF-THIS-COMPUTER'}:{own_port}/", err=True)
    else:
        typer.echo(f"http://{f'[{host}]' if ':' in host else host}:{own_port}/  {note}", err=True)
    with suppress(KeyboardInterrupt):  # uvicorn has shut down before it raises it again
        uvicorn.Server(config).run([bound])


def open_page(
    open_first: "Callable[[Server], str | None]",
    pieces: Sequence[tuple[str, Callable[[], object]]] = (),
    *,
    folder: Path | None = None,
    own_agents: frozenset[str] = frozenset(),
    has_browser: bool = True,
    port: int = 0,
) -> None:
    """Serve the pages to the person at this computer until Ctrl-C, or some time after the last page was closed.

    Where they are served already, from the same folder, another page is opened there.

    Args:
        open_first: returns the page to begin with, None for the start page; called when games can be played.
        pieces: what else is prepared, in words, and what prepares it.
        folder: where games are kept; by default the person's own folder, or none if that cannot be written.
        own_agents: user-defined agents that may be named.
        has_browser: whether a browser is opened.
        port: port to listen on; 0 takes a free one.

    Raises:
        GeoPatrolError: what is to be opened first is wrong.
    """
    from geo_patrol.cli.compiling import (
        compile_flight_games,
        compile_hidden_enemies,
        compile_opponents,
        compile_rules,
        compile_search,
        compile_warnings,
    )
    from geo_patrol.web.app import Server
    from geo_patrol.web.local import LocalPage, open_browser, page_address, running_address
    from geo_patrol.web.tables import TableStore

    with ExitStack() as stack:
        data = folder or games_folder(stack)

        def tell(address: str) -> None:
            typer.echo(address, err=True)
            if has_browser:
                open_browser(address)

        running = running_address(data)
        if running is not None:
            if own_agents:
                raise InputError(
                    f"your page is open already, without {', '.join(own_agents)}: end it first, with Ctrl-C"
                )
            guest = Server(TableStore(data, _MAX_OWN_TABLES, is_guest=True))
            page_opened = open_first(guest)
            guest.tables.close()
            typer.echo("Your page is open already; this is one more:", err=True)
            tell(page_address(running, page_opened))
            return

        def make_app() -> tuple[Any, str | None]:
            tables = TableStore(data, _MAX_OWN_TABLES, own_agents)
            later = compile_search, compile_flight_games, compile_hidden_enemies  # what most games need not wait for
            server = Server(tables, ("*",), later=later, is_own=True)  # who comes without the key gets no further
            for fault in server.damaged:
                typer.echo(f"damaged: {fault}", err=True)
            return server.app(), open_first(server)

        first = (("the rules", compile_rules), ("the opponents", compile_opponents), ("warnings", compile_warnings))
        page = LocalPage((*first, *pieces), make_app)
        with suppress(KeyboardInterrupt):
            _allow_files()
            typer.echo("Your page is at this address. Ctrl-C ends it; so does closing it, ten minutes later.", err=True)
            page.run(port, data, tell)
    if isinstance(page.failure, GeoPatrolError | ValueError | OSError):
        raise InputError(str(page.failure))
    if page.failure is not None:
        raise page.failure


def games_folder(stack: ExitStack) -> Path:
    """Return the person's own folder for games; one that lasts as long as the command if that cannot be written."""
    from geo_patrol.replays import saved_games_folder

    try:
        own = saved_games_folder()
        own.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=own):
            return own
    except GeoPatrolError as error:
        reason = str(error)
    except OSError as error:
        reason = f"{own}: {error.strerror}"
    typer.echo(f"Games are not saved: {reason}.", err=True)
    return Path(stack.enter_context(tempfile.TemporaryDirectory()))


def _allow_files() -> None:
    """Allow this process as many open files as the system does: connections and games in progress are files."""
    with suppress(ImportError):  # Windows has no such limit
        import resource

        _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):  # macOS has a lower one than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
