"""Tables: seats and their secrets, the game that is played at one, and all tables of a server."""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from pydantic import Field, StringConstraints

from geo_patrol.agents import Agent, make_agent
from geo_patrol.agents.isolation.agent import is_user_defined, make_match_agent
from geo_patrol.agents.policy import GREEDY, shipped_names
from geo_patrol.agents.registry import is_builtin
from geo_patrol.agents.search import Searcher, read_budget, read_search
from geo_patrol.base.arguments import fresh_seed
from geo_patrol.base.errors import GeoPatrolError, OrderError, RecordingError, printable, show
from geo_patrol.base.files import atomic_path, read_limited, sweep_temporary_files
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.presets import load_config, read_saved_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.config.toml_files import MAX_FILE_BYTES, preset_names
from geo_patrol.engine.state import SATELLITES
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import EndReason, Order, read_orders, read_settled
from geo_patrol.game.position import VISIBLE_FIELDS, SavedData
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.live import LiveGame
from geo_patrol.play.order_entry import OrderEntry
from geo_patrol.play.text_game import FORFEIT, parse_orders
from geo_patrol.replays import Recorder, Replay, read_replay
from geo_patrol.replays.files import reopen
from geo_patrol.web import protocol
from geo_patrol.web.names import player_name, read_name
from geo_patrol.web.records import TableScenes
from geo_patrol.web.requests import Body, accepts, hash_secret, read_scenario
from geo_patrol.web.store import Store, Stored, read_content

MAX_FINISHED = 50
"""Games that are over, and still in memory."""
MAX_TURNS = 200
"""Of a game on a server, which keeps all of its positions in memory."""
_PERSON = "person"
_MAX_TITLE = 80
_MAX_SEARCH_SECONDS, _MAX_ROLLOUTS = 2.0, 2_000
"""For one decision of an agent that a stranger names."""
_MAX_QUICK_SECONDS, _MAX_QUICK_ROLLOUTS = 0.05, 20
"""For one decision of an agent for which others may wait."""
_RETRY_SECONDS, _PREPARING_SECONDS = 60.0, 5.0
_MAX_FAULT = 300
_MAX_DAMAGED_BYTES = 1 << 24
"""That are kept of a damaged replay."""
_SCRIPTS = ("random", "idle", "turtle", "raider", "mixed", "scripted", "level")
"""Agents whose parameters name neither files nor other agents."""


class Seat(SavedData):
    """A seat as it is saved: its secret only as a hash.

    Attributes:
        kind: "agent", or for people "open", which anybody may take, or "taken", which needs its secret.
        name: name of the agent, or what the person wants to be called.
        secret_hash: SHA-256 of the secret, as hexadecimal digits; "" without one.
    """

    kind: Literal["agent", "open", "taken"]
    name: Annotated[str, StringConstraints(max_length=200)]
    secret_hash: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""

    def accepts(self, secret: str) -> bool:
        """Return whether a secret is the seat's, in a time that does not depend on it."""
        return self.kind == "taken" and accepts(self.secret_hash, secret)

    def take(self, secret: str) -> None:
        """Take the seat with a new secret, which is not stored."""
        self.kind, self.secret_hash = "taken", hash_secret(secret)

    def leave(self) -> None:
        """Leave the seat open for others; its secret is void."""
        self.kind, self.secret_hash = "open", ""

    def close(self) -> None:
        """Keep everybody out; its secret is void."""
        self.kind, self.secret_hash = "taken", ""


def make_seat_agent(name: str, own_agents: frozenset[str]) -> Agent:
    """Make the agent that somebody names for a seat.

    Args:
        name: a name of the package's agents, or one of ``own_agents``.
        own_agents: names of user-defined agents that the operator of the server allows; each plays in a process of its own.
            Policies in files are among them.

    Raises:
        ProtocolError: there is no agent of that name, or it takes too long, with the code "bad_message".
    """
    if name in own_agents:
        return make_match_agent(name)
    if is_user_defined(name):
        raise protocol.ProtocolError("bad_message", f"agent {name!r}: this server does not run user-defined agents")
    try:
        _check_without_files(name)
        agent = make_agent(name)
    except ValueError as error:
        raise protocol.ProtocolError("bad_message", str(error)) from None
    if isinstance(agent, Searcher):
        seconds, rollouts = read_budget(agent.search)
        if seconds > _MAX_SEARCH_SECONDS or rollouts > _MAX_ROLLOUTS:
            raise protocol.ProtocolError(
                "bad_message",
                f"agent {name!r}: a search has at most {_MAX_SEARCH_SECONDS} s or {_MAX_ROLLOUTS:,} rollouts here",
            )
    return agent


def _is_slow(agent: Agent) -> bool:
    seconds, rollouts = read_budget(agent.search) if isinstance(agent, Searcher) else (0.0, 0)
    return seconds > _MAX_QUICK_SECONDS or rollouts > _MAX_QUICK_ROLLOUTS


def _check_without_files(name: str) -> None:
    """Raise ProtocolError if an agent, or one that it names, is read from a file: files of the server are no client's."""
    base, _, text = name.partition(":")
    if base == "search":
        search = read_search(text) if text else None
        for other in filter(None, (search.propose, search.enemy) if search else ()):
            _check_without_files(other)
    elif base not in _SCRIPTS and not (base == "policy" and text.removesuffix(GREEDY) in ("", *shipped_names())):
        policies = ", ".join(f"policy:{one}" for one in shipped_names())
        text = f"this server plays {', '.join(_SCRIPTS)}, search, {policies}"
        raise protocol.ProtocolError("bad_message", f"agent {show(name)}: {text}")


class GivenHint(SavedData):
    """A hint that was given: to which side, after how many phases, and the orders that it proposed."""

    side: Literal["alpha", "bravo"]
    phases: Annotated[int, Field(ge=0)]
    orders: Annotated[list[Annotated[str, StringConstraints(max_length=60)]], Field(max_length=SATELLITES)]


class UnfinishedPhase(SavedData):
    """A phase that was not played when its table left memory: what was accepted stands, and its clock goes on.

    Attributes:
        phases: how many phases were played before.
        passed: seconds of its clock; None if it has not begun.
        orders: the orders of each side that has given any.
        draw_offered: sides that offer a draw.
    """

    phases: Annotated[int, Field(ge=0)]
    orders: dict[
        Literal["alpha", "bravo"],
        Annotated[list[Annotated[str, StringConstraints(max_length=60)]], Field(max_length=SATELLITES)],
    ]
    draw_offered: list[Literal["alpha", "bravo"]]
    passed: Annotated[float, Field(ge=0)] | None = None


class GoneBack(SavedData):
    """A loss of phases: how many are left, and how many were lost, at least."""

    left: Annotated[int, Field(ge=0)]
    lost: Annotated[int, Field(ge=1)]


class SavedTable(SavedData):
    """What a table needs beside its replay to go on after a restart."""

    version: Literal[1] = 1
    title: Annotated[str, StringConstraints(max_length=80)]
    config: dict[str, Any]
    seed: Annotated[int, Field(ge=0, lt=2**64)]
    clock: Annotated[float, Field(gt=0)] | None
    on_timeout: Literal["hold", "forfeit"]
    hints: bool = True
    """Whether people may ask for hints."""
    hinted: list[GivenHint] = Field(default=[])
    """Hints that were given. They count the game out of ratings, and what they proposed is not held against a player."""
    unfinished: UnfinishedPhase | None = None
    gone_back: GoneBack | None = None
    """The latest loss of phases."""
    is_over: bool = False
    is_paused: bool = False
    """Whether its teacher has paused it."""
    is_stopped: bool = False
    """Whether its teacher has ended it without a result."""
    opener: Annotated[str, StringConstraints(max_length=60)] = ""
    """The address that opened it, as ``client_site`` returns it: its tables share its turns at the threads."""
    classroom: Annotated[str, StringConstraints(max_length=40)] = ""
    """The class for which it was opened."""
    settled: Annotated[str, StringConstraints(pattern=r"^(agreed|(resigned|failed) \((alpha|bravo)\))$")] | None = None
    """Why it ended that would have gone on, as an ``EndReason`` prints."""
    fault: Annotated[str, StringConstraints(max_length=_MAX_FAULT)] = ""
    """What the agent raised that failed."""
    alpha: Seat
    bravo: Seat

    def seat(self, side: Side) -> Seat:
        """Return the seat of a side."""
        return self.alpha if side == "alpha" else self.bravo


_MIN_AGENT_SECONDS = 1.0
"""Seconds for a phase, at least, where agents play each other."""
_MAX_UNREADABLE = 3
"""Answers in words to a phase that cannot be read, before it is forfeited."""


class Table(Stored[SavedTable]):
    """A game with its seats.

    The replay alone says which phases were played. Each of them, when it is on the disk, adds a newline to the table's file, which
    JSON allows: without them, a replay of which a part is lost would look like one of an earlier moment. Newlines need not
    reach the disk, so there may be too few of them, or NULs instead.

    Args:
        table: its identifier, which names its files.
        saved: its setup.
        folder: folder of its files.
        own_agents: see ``make_seat_agent``.

    Attributes:
        num_events: how many events clients know: the phases that are complete, and the end.
        submitted: the orders that are in for the current phase.
        scenes: its moments for each screen of browsers, with everything.
        connected: sides of people with a connection.
        draw_offered: sides that offer a draw.
        fault: why it stands still, where the server itself has failed; None otherwise.
        is_attended: whether anybody is there. Without anybody, clocks stand still and agents do not play each other.
        last_used: when somebody was last there, by ``time.monotonic``.
        loss: what was lost of its replay, and to which phase it went back; "" if nothing was.

    Raises:
        ProtocolError: an agent cannot be made.
        ConfigError: the configuration is wrong.
    """

    def __init__(self, table: str, saved: SavedTable, folder: Path, own_agents: frozenset[str] = frozenset()) -> None:
        super().__init__(table, saved, folder)
        self.config = read_saved_config(saved.config)
        agents = [self._make_agent(side, own_agents) for side in SIDES]
        self._agents = agents[0], agents[1]
        self.connected: set[Side] = set()
        self.draw_offered: set[Side] = set()
        self.is_attended = False
        self._lock, self._num_changing = asyncio.Lock(), 0
        self.loss = ""
        self._num_left: int | None = None
        self.fault: str | None = None
        self.last_used = time.monotonic()
        self.submitted: dict[Side, tuple[Order, ...]] = {}
        self._phase_start: float | None = None
        self._held: float | None = None  # seconds that had passed when everybody went
        self._recorder: Recorder | None = None
        self._start()

    def _start(self) -> None:
        self.live = LiveGame(self.config, self._agents, self.saved.seed)
        self.live.timeline.settled = read_settled(self.saved.settled)
        self.num_events = 0
        self._entries: dict[Side, OrderEntry] = {}  # what people may order now
        self.scenes = _make_scenes(self.live.timeline)
        self._seen: dict[Side, Timeline] = {}  # the game as each side knows it, where it hides enemies
        if self.hides_enemies:
            self._seen = {side: self.live.timeline.seen_by(side) for side in SIDES}
        self._seen_scenes = {side: _make_scenes(timeline) for side, timeline in self._seen.items()}
        self._past: Replay | None = None  # to append to, as far as it was restored
        self._is_put_away = False
        self._begin_phase()
        self.live.observers.append(self._record)

    def restart(self) -> None:
        """Go back to the last phase that was saved, after one that could not be."""
        with suppress(OSError):
            self.close()
        self._recorder = self.saved.unfinished = None  # the orders are asked for again
        self._start()
        self.resume()

    def resume(self) -> None:
        """Repeat the phases of its replay, to go on at the last one that can be read. Nothing is written.

        Raises:
            RecordingError: the replay is missing, or not that of its game, or does not follow the rules.
        """
        num_saved = self.num_saved_phases()
        if self.replay_path.exists():
            self._repeat(num_saved)
        elif num_saved:
            raise RecordingError(f"{self.replay_path}: the replay is missing; {num_saved} phases had been played")
        self.finish_phase()

    def _repeat(self, num_saved: int) -> None:
        try:
            replay = read_replay(self.replay_path)
        except RecordingError as error:
            if num_saved and not _is_cut_short(self.replay_path):
                raise
            if num_saved:  # otherwise the server ended before the first phase was complete
                self._note_loss(0, num_saved, str(error).removeprefix(f"{self.replay_path}: "))
            return  # playing the first phase replaces the file
        if (replay.seed, replay.config) != (self.live.seed, self.config):
            raise RecordingError(f"{self.replay_path}: this is the replay of another game")
        self.live.observers.clear()
        self.live.resume(phase.codes for phase in replay.phases)
        self.live.observers.append(self._record)
        if replay.phases:
            position, recorded = self.live.game.position, replay.phases[-1].after
            if any(getattr(position, name) != getattr(recorded, name) for name in VISIBLE_FIELDS):
                raise RecordingError(f"{self.replay_path}: its orders do not lead to its last position")
            self._past = replay
        if len(replay.phases) < num_saved:
            self._note_loss(len(replay.phases), num_saved, replay.fault)
        replay.phases = replay.phases[-1:]

    def _note_loss(self, num_left: int, num_saved: int, fault: str | None) -> None:
        """Note that phases are lost: only a disk that does not keep what it has stored, or somebody else, can do that."""
        game, self._num_left = self.live.game, num_left
        self.saved.gone_back = GoneBack(left=num_left, lost=num_saved - num_left)
        self.loss = (
            f"{self.replay_path}: {num_left} of {num_saved} phases can be read{f' ({fault})' if fault else ''}: "
            f"the game goes back to turn {game.turn}, {game.phase}"
        )
        self.saved.is_over = self.live.is_over or self.saved.settled is not None

    def _content(self, saved: SavedTable) -> str:
        return super()._content(saved) + "\n" * self.num_saved_phases()

    def num_saved_phases(self) -> int:
        """Return how many phases had been saved, at least; after a loss, how many are left of them."""
        if self._num_left is not None:
            return self._num_left
        if not self.path.exists():
            return 0
        return self.path.read_bytes()[len(read_content(self.path)) :].count(b"\n")

    def note_phase(self) -> None:
        """Count a phase that was saved."""
        with suppress(OSError), self._writing, self.path.open("ab") as file:
            file.write(b"\n")

    def write(self, saved: SavedTable | None = None) -> None:
        """Write its file, which counts the phases that are left from now on; so a damaged replay is kept before."""
        if self._num_left is not None:
            with atomic_path(self.damaged_path) as temporary:
                temporary.chmod(0o600)
                temporary.write_bytes(read_limited(self.replay_path, _MAX_DAMAGED_BYTES))
        super().write(saved)
        self._num_left = None

    @property
    def went_back(self) -> protocol.WentBack | None:
        """To which phase the game went back, where phases were lost."""
        loss = self.saved.gone_back
        if loss is None or loss.left >= len(self.live.timeline):
            return None
        game = self.live.timeline[loss.left]
        return protocol.WentBack(turn=game.turn, phase=game.phase, lost=loss.lost)

    @property
    def damaged_path(self) -> Path:
        """Where a damaged replay is kept when its game goes on: the latest one."""
        return self._folder / f"{self.id}.damaged.gz"

    @property
    def replay_path(self) -> Path:
        """The file of its game."""
        return self._folder / f"{self.id}.jsonl.gz"

    @property
    def is_idle(self) -> bool:
        """Whether it can leave memory: nobody is there, and nothing of it is being played or written."""
        return not self.is_attended and not self._num_changing

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Wait until nobody else plays a phase or writes, who then waits."""
        self._num_changing += 1
        try:
            async with self._lock:
                yield
        finally:
            self._num_changing -= 1

    @property
    def is_slow(self) -> bool:
        """Whether one of its agents takes more than a moment for its orders, or is not of the package."""
        seats = zip(self._agents, (self.saved.alpha, self.saved.bravo), strict=True)
        return any(agent is not None and (_is_slow(agent) or not is_builtin(seat.name)) for agent, seat in seats)

    def keep_unfinished(self) -> None:
        """Save what was accepted in the current phase, before the table leaves memory."""
        unfinished = None
        passed = None if self.saved.clock is None else self._held
        if not self.is_over and (self.submitted or self.draw_offered or passed is not None):
            orders = {side: [str(order) for order in orders] for side, orders in self.submitted.items()}
            offers = [side for side in SIDES if side in self.draw_offered]
            unfinished = UnfinishedPhase(
                phases=len(self.live.timeline.phases), orders=orders, draw_offered=offers, passed=passed
            )
        if unfinished != self.saved.unfinished:
            self.saved.unfinished = unfinished
            with suppress(OSError):  # it is lost then
                self.write()

    def put_away(self) -> None:
        """Save what was accepted and close its replay, as before the table leaves memory; somebody may still come back to it.

        This may run in a thread.
        """
        self.keep_unfinished()
        if not self.is_over:
            with suppress(OSError):
                self.close()
            self._recorder, self._is_put_away = None, self._recorder is not None or self._is_put_away

    def close(self) -> None:
        """Close its file; the game can be restored."""
        if self._recorder is not None:
            self._recorder.close()

    def _make_agent(self, side: Side, own_agents: frozenset[str]) -> Agent | None:
        seat = self.saved.seat(side)
        is_playing = seat.kind == "agent" and self.saved.settled is None  # otherwise nobody asks it, and it may fail
        return make_seat_agent(seat.name, own_agents) if is_playing else None

    # Seats

    @property
    def people(self) -> list[Side]:
        """Sides that people play, or bots of theirs."""
        return [side for side in SIDES if self.saved.seat(side).kind != "agent"]

    @property
    def names(self) -> protocol.Players:
        """Who plays, as pages call them."""
        alpha, bravo = (player_name(self.saved.seat(side).name) for side in SIDES)
        return protocol.Players(alpha=alpha, bravo=bravo)

    def side_of(self, secret: str) -> Side:
        """Return the side whose seat a secret opens.

        Raises:
            ProtocolError: it opens none.
        """
        sides = [side for side in SIDES if self.saved.seat(side).accepts(secret)]  # both, in constant time
        if not sides:
            raise protocol.ProtocolError("wrong_secret", "this secret opens no seat of the table")
        return sides[0]

    def take_seat(self, side: Side) -> str:
        """Take an open seat; return its secret.

        Raises:
            ProtocolError: it is not open.
        """
        secret = secrets.token_urlsafe(24)

        def take(saved: SavedTable) -> None:
            if saved.seat(side).kind != "open":
                raise protocol.ProtocolError("no_seat", "this seat is taken")
            saved.seat(side).take(secret)

        self.save(take)
        return secret

    def leave_seat(self, side: Side) -> None:
        """Leave a seat: it is open again, its secret void."""
        self.save(lambda saved: saved.seat(side).leave())
        self.connected.discard(side)

    def new_name(self, side: Side, asked: str | None) -> str | None:
        """Return what a person is called from now on who asks for a name; None if that changes nothing.

        It may change before the first phase is played; pupils have the names of their class.
        """
        if not asked or not asked.strip() or self.num_events or self.saved.classroom:
            return None
        name = read_name(asked)
        return None if name == self.saved.seat(side).name else name

    def rename(self, side: Side, asked: str) -> None:
        """Set what a person is called, as ``new_name`` returns it."""
        name = self.new_name(side, asked)
        if name is not None:
            self.save(lambda saved: setattr(saved.seat(side), "name", name))

    # Playing

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, with the event of its end."""
        timeline = self.live.timeline
        return timeline.settled is not None or (self.live.is_over and self.num_events == len(timeline))

    @property
    def winner(self) -> Side | None:
        """Who won; None for a draw, or while it goes on."""
        return self.live.timeline.winner

    @property
    def reasons(self) -> tuple[EndReason, ...]:
        """Why it ended; empty while it goes on."""
        return self.live.timeline.reasons if self.is_over else ()

    def submit(self, side: Side, message: protocol.Orders) -> None:
        """Take the orders of a side. The same orders for a phase may come twice.

        Raises:
            ProtocolError: they are for another phase, differ from those that are in, or one is not legal.
        """
        game = self.game
        phase = game.turn, game.phase
        if message.game != self.id:
            raise protocol.ProtocolError("bad_order", f"game {message.game!r}: this table plays {self.id!r}")
        if (message.turn, message.phase) != phase or self.is_over:
            self._check_played(side, message)
            return
        self.check_open()
        orders = self.read_orders(side, message.orders)
        before = self.submitted.setdefault(side, orders)
        if before != orders:
            raise protocol.ProtocolError("too_late", "other orders for this phase are in already; they stand")

    def note_hint(self, hint: GivenHint) -> None:
        """Keep what a hint has proposed."""

        def note(saved: SavedTable) -> None:
            others = [one for one in saved.hinted if (one.side, one.phases) != (hint.side, hint.phases)]
            saved.hinted = [*others, hint]

        self.save(note)

    def proposed(self, side: Side) -> dict[int, tuple[Order, ...]]:
        """Return the orders that hints proposed to a side, by the number of phases before."""
        return {one.phases: tuple(read_orders(one.orders)) for one in self.saved.hinted if one.side == side}

    def check_open(self) -> None:
        """Raise ProtocolError if no orders are taken now."""
        if self.saved.is_stopped:
            raise protocol.ProtocolError("paused", "the game was ended by the teacher")
        if self.saved.is_paused:
            raise protocol.ProtocolError("paused", "the game is paused: orders are taken when it goes on")

    def read_orders(self, side: Side, texts: Sequence[str]) -> tuple[Order, ...]:
        """Return orders of a side for the current phase, without those that hold.

        Raises:
            ProtocolError: one is not legal, with the code "bad_order".
        """
        try:
            orders = tuple(order for order in read_orders(texts) if order.action != "noop")
            self.game.seen_by(side).check_orders(side, orders)
        except OrderError as error:
            raise protocol.ProtocolError("bad_order", str(error)) from None
        return orders

    def is_forfeited(self, side: Side) -> bool:
        """Count an answer to the current phase that cannot be read; return whether the phase is forfeited with it."""
        self._unreadable[side] += 1
        if side in self.submitted or self._unreadable[side] < _MAX_UNREADABLE:
            return False
        self.submitted[side] = FORFEIT
        return True

    def _check_played(self, side: Side, message: protocol.Orders) -> None:
        """Accept orders that were played already."""
        ordered = {text for text in message.orders if not text.endswith(" noop")}
        for phase in self.live.timeline.phases:
            if (phase.turn, phase.name) == (message.turn, message.phase):
                if {str(order) for order in phase.orders[SIDES.index(side)]} == ordered:
                    return
                raise protocol.ProtocolError("too_late", f"turn {message.turn}, {message.phase}: it is played")
        raise protocol.ProtocolError("too_soon", f"turn {message.turn}, {message.phase}: it is not to be ordered now")

    @property
    def is_still(self) -> bool:
        """Whether no phase is played, whatever is ordered."""
        return self.saved.is_paused or self.saved.is_stopped or self.fault is not None or self.is_over

    def resign(self, side: Side) -> None:
        """End the game: the other side wins. Nothing happens after the end."""
        self._settle(EndReason("resigned", side))

    def fail(self, side: Side, fault: str) -> None:
        """End the game because the agent of a side has failed: the other side wins.

        Args:
            side: the side.
            fault: what the agent raised.

        Raises:
            ProtocolError: that cannot be saved.
        """
        self._settle(EndReason("failed", side), printable(fault, _MAX_FAULT))

    def offer_draw(self, side: Side, *, is_offered: bool) -> None:
        """Offer a draw, or take the offer back; when both sides offer one, the game ends."""
        (self.draw_offered.add if is_offered else self.draw_offered.discard)(side)
        if self.draw_offered == set(SIDES):
            self._settle(EndReason("agreed"))

    def _settle(self, reason: EndReason, fault: str = "") -> None:
        def settle(saved: SavedTable) -> None:
            saved.settled, saved.fault, saved.is_over = str(reason), fault, True

        if self.is_over:
            return
        self.save(settle)
        self.live.timeline.settled = reason
        self._record_settled(reason)
        self.num_events += 1

    def _record_settled(self, reason: EndReason) -> None:
        """Write the end of a game that would have gone on to its replay, if the disk has room for it."""
        with suppress(OSError):
            if self._recorder is None:
                self._recorder = self._open_recorder(self.live, self.live.game)
            self._recorder.settle(reason)
            self._recorder.close()

    def wait_seconds(self, now: float) -> float | None:
        """Return the seconds until the phase is to be played: 0 if it is, None for no limit."""
        if self.people and not self.is_still and set(self.people) <= set(self.submitted):
            return 0.0
        passed = self._passed_seconds(now)
        if not self.people and passed is not None:
            return max(_MIN_AGENT_SECONDS - passed, 0.0)
        return self.seconds_left(now)

    def _passed_seconds(self, now: float) -> float | None:
        """Return the time since the phase began, which it does when somebody asks; None while the game stands still."""
        if self.is_still or not self.is_attended:
            return None
        if self._phase_start is None:
            if (
                self._held is None
                and not self.num_events
                and not set(self.people) <= self.connected | set(self.submitted)
            ):
                return None  # until all have come
            self._phase_start, self._held = now - (self._held or 0.0), None
        return now - self._phase_start

    @property
    def sides_with_choice(self) -> list[Side]:
        """Sides of people who have something to order in the current phase."""
        return [side for side, entry in self._entries.items() if entry.has_choice]

    def hold_clock(self, now: float) -> None:
        """Let the clock stand still until somebody asks for it again: who goes and comes back gains no time."""
        if self._phase_start is not None:
            self._held = now - self._phase_start
            self._phase_start = None

    def restart_clock(self) -> None:
        """Give the full time for the phase, after a pause."""
        if self._phase_start is not None or self._held is not None:
            self._phase_start, self._held = None, 0.0

    def close_phase(self) -> None:
        """Take no more orders for the phase: those whose time is up hold, or forfeit."""
        missing: tuple[Order, ...] = () if self.saved.on_timeout == "hold" else FORFEIT
        self.submitted = dict.fromkeys(self.people, missing) | self.submitted

    def play(self) -> None:
        """Play the phase, which is closed, and save it; clients hear of it by ``finish_phase``. This may run in a thread.

        Raises:
            AgentError: an agent of the server failed; nothing has happened.
            OSError: the phase could not be saved; ``restart`` goes back to the one before.
        """
        alpha, bravo = (self.submitted.get(side, ()) for side in SIDES)
        self.live.play((alpha, bravo))
        for side, timeline in self._seen.items():
            for phase in self.live.timeline.phases[len(timeline.phases) :]:
                timeline.append(phase.seen_by(side))
        self.note_end()

    def play_again(self) -> None:
        """Play the phase after an agent has failed at it: all agents begin anew.

        Raises:
            AgentError: an agent of the server failed; nothing has happened.
            OSError: the phase could not be saved.
        """
        self.live.restart_agents()
        self.play()

    @property
    def hides_enemies(self) -> bool:
        """Whether players do not see all of the game, and nobody else sees it before it is over."""
        return self.config.hides_enemies

    def timeline_of(self, side: Side | None) -> Timeline:
        """Return the game as a side knows it; as it is for those who watch."""
        return self.live.timeline if side is None else self._seen.get(side, self.live.timeline)

    def scenes_of(self, side: Side | None, screen: protocol.Screen) -> TableScenes:
        """Return the moments of the game as a side knows it, for a screen."""
        return (self.scenes if side is None else self._seen_scenes.get(side, self.scenes))[screen]

    def finish_phase(self) -> None:
        """Let clients know of the phases that were played, and of the end."""
        for side, timeline in self._seen.items():
            for phase in self.live.timeline.phases[len(timeline.phases) :]:
                timeline.append(phase.seen_by(side))
        self.num_events = len(self.live.timeline.phases)
        if self.live.is_over or self.saved.settled is not None:
            self.num_events += 1
        self._begin_phase()

    def note_end(self) -> None:
        """Save that the game is over, which the replay says as well: a server that starts need not read that for it."""
        if self.live.is_over and not self.saved.is_over:
            with suppress(protocol.ProtocolError):
                self.save(lambda saved: setattr(saved, "is_over", True))

    def _begin_phase(self) -> None:
        self.game = self.live.game
        self.submitted = {}
        self.draw_offered = set()
        self._unreadable: Counter[Side] = Counter()
        self._phase_start = self._held = None
        if not self.game.is_over:
            self._entries = {side: OrderEntry(self.game.seen_by(side), side) for side in self.people}
            # Of hidden enemies, it would tell that they have no choice.
            if not self.hides_enemies or len(self.people) == 1:
                self.submitted = {side: () for side, entry in self._entries.items() if not entry.has_choice}
            kept = self.saved.unfinished
            if kept is not None and kept.phases == len(self.live.timeline.phases):
                self.submitted |= {
                    side: tuple(read_orders(kept.orders[side])) for side in self.people if side in kept.orders
                }
                self.draw_offered = {*kept.draw_offered}
                self._held = kept.passed

    def _record(self, live: LiveGame, phase: Phase) -> None:
        if self._recorder is None:
            self._recorder = self._open_recorder(live, phase.before)
        self._recorder.record_phase(phase)
        if live.is_over:
            self._recorder.close()
        self.note_phase()

    def _open_recorder(self, live: LiveGame, position: Game) -> Recorder:
        if self._num_left is not None:
            self.write()
        if self._is_put_away:
            self._past, self._is_put_away = _read_last(self.replay_path), False
        if self._past is not None:
            recorder = reopen(self.replay_path, self._past)
            recorder.resume(position)
        else:
            self.replay_path.unlink(missing_ok=True)  # what a full disk left of a first phase
            recorder = Recorder(self.replay_path, self.config)
            recorder.begin(seed=live.seed, alpha=self.saved.alpha.name, bravo=self.saved.bravo.name)
        self.replay_path.chmod(0o600)
        return recorder

    # Messages

    def event(self, number: int, screen: protocol.Screen | None = None, side: Side | None = None) -> protocol.Event:
        """Return an event as a side knows it, with its scene instead of the position for a browser's screen.

        The end has no scene.
        """
        phases = self.timeline_of(side).phases
        if number > len(phases):
            return protocol.Event(
                number=number, event=protocol.ended(self.live.timeline, self.saved.seed, self.saved.fault or None)
            )
        event = protocol.played(phases[number - 1], has_position=screen is None)
        return protocol.Event(number=number, event=event, scene=screen and self.scenes_of(side, screen).moment(number))

    def welcome(self, side: Side | None, last_event: int, screen: protocol.Screen | None = None) -> protocol.Welcome:
        """Return the game after an event, all of it if there is no such event; see ``history`` for what it leaves out."""
        first = self.num_known(last_event) + 1
        return protocol.Welcome(
            game=self.id,
            title=self.saved.title,
            names=self.names,
            you=side,
            config=self.saved.config,
            clock=self.saved.clock,
            on_timeout=self.saved.on_timeout,
            start=protocol.visible_position(self.live.timeline[0]) if screen is None else None,
            first_event=first,
            last_event=self.num_events,
            events=self.history(first, screen, side),
            scene=self.scenes_of(side, screen).moment(0) if screen is not None and first == 1 else None,
        )

    def history(
        self, first: int, screen: protocol.Screen | None = None, side: Side | None = None
    ) -> list[protocol.Event]:
        """Return the events from a number on, as many as a message holds."""
        last = min(first + protocol.PAGE - 1, self.num_events)
        return [self.event(number, screen, side) for number in range(first, last + 1)]

    def num_known(self, last_event: int) -> int:
        """Return how many events a client has whose last one is given: none if there is no such event, or it was lost."""
        loss = self.saved.gone_back
        return 0 if last_event > self.num_events or (loss is not None and last_event > loss.left) else last_event

    def _moments_after(self, last_event: int) -> range:
        """Return the moments on the page after an event; the first page begins with the start of the game."""
        last = min(self.num_events, len(self.live.timeline) - 1, last_event + protocol.PAGE)
        return range(last_event + 1 if last_event else 0, last + 1)

    def _asked_after(self, last_event: int, side: Side | None) -> Side | None:
        """Return a side if it may order at the end of the page after an event, otherwise None."""
        return None if self.is_over or last_event + protocol.PAGE < self.num_events else side

    def is_drawn(self, last_event: int, screen: protocol.Screen, side: Side | None) -> bool:
        """Return whether the page after an event can be sent at once, with what its side may order after it."""
        scenes, asked = self.scenes_of(side, screen), self._asked_after(last_event, side)
        has_choices = asked is None or scenes.has_choices(self.game, asked)
        return has_choices and all(map(scenes.has_moment, self._moments_after(last_event)))

    def draw_page(self, last_event: int, screen: protocol.Screen, side: Side | None = None) -> None:
        """Draw the page after an event for a screen; this may run in a thread, also while a phase is played."""
        scenes, asked = self.scenes_of(side, screen), self._asked_after(last_event, side)
        for number in self._moments_after(last_event):
            scenes.moment(number)
        if asked is not None:
            scenes.choices(self.game.seen_by(asked), asked)

    def draw_last(self, screen: protocol.Screen, side: Side | None) -> None:
        """Draw the phase that was played last, and what a side may order next; this may run in a thread, before ``finish_phase``."""
        scenes = self.scenes_of(side, screen)
        scenes.moment(len(self.timeline_of(side)) - 1)
        game = self.live.game
        if side is not None and not game.is_over:
            scenes.choices(game.seen_by(side), side)

    def your_turn(self, side: Side, now: float, screen: protocol.Screen | None = None) -> protocol.YourTurn:
        """Return what a side may order now."""
        phase = self.game.phase
        assert phase != "drift"
        orders = self.submitted.get(side)
        seen = self.game.seen_by(side)
        choices = screen and self.scenes_of(side, screen).choices(seen, side) | {"hints": self.saved.hints}
        return protocol.YourTurn(
            game=self.id,
            turn=self.game.turn,
            phase=phase,
            seconds_left=self.seconds_left(now),
            options=protocol.option_states(seen, self._entries[side]),
            submitted=None if orders is None else [str(order) for order in orders],
            scene=choices,
        )

    def seconds_left(self, now: float) -> float | None:
        """Return the time left on the clock."""
        passed = self._passed_seconds(now)
        if self.saved.clock is None or passed is None:
            return None
        return max(round(self.saved.clock - passed, 1), 0.0)


def _make_scenes(timeline: Timeline) -> dict[protocol.Screen, TableScenes]:
    return {screen: TableScenes(timeline, screen) for screen in get_args(protocol.Screen)}


def submit(table: Table, side: Side, message: protocol.Orders | protocol.Answer) -> protocol.Orders:
    """Submit the orders of a side; return those that are in.

    An answer that came before gives the same orders later. The third one to a phase that cannot be read forfeits it, as
    with ``TextAgent``: its side gives a single illegal order.

    Raises:
        ProtocolError: an order cannot be read or is illegal, with the code "bad_order", or the phase has not come.
    """
    if isinstance(message, protocol.Orders):
        table.submit(side, message)
        return message
    game = _position(table, message)
    is_current = (game.turn, game.phase) == (table.game.turn, table.game.phase)
    if is_current:
        table.check_open()
    try:
        orders = _orders(message, [str(order) for order in parse_orders(message.text, game, side)])
    except OrderError as error:
        if not is_current or not table.is_forfeited(side):
            raise protocol.ProtocolError("bad_order", str(error)) from None
        return _orders(message, [str(order) for order in FORFEIT])
    table.submit(side, orders)
    return orders


def _orders(answer: protocol.Answer, texts: list[str]) -> protocol.Orders:
    return protocol.Orders(game=answer.game, turn=answer.turn, phase=answer.phase, orders=texts)


def _position(table: Table, answer: protocol.Answer) -> Game:
    """Return the position that an answer is about."""
    for game in table.live.timeline:
        if (game.turn, game.phase) == (answer.turn, answer.phase):
            return game
    raise protocol.ProtocolError("too_soon", f"turn {answer.turn}, {answer.phase}: it is not to be ordered now")


def check_length(config: GameConfig) -> None:
    """Check that a game is short enough for a server.

    Raises:
        ProtocolError: it is not.
    """
    if config.turn_limit > MAX_TURNS:
        text = f"turn_limit must be at most {MAX_TURNS} on a server, got {config.turn_limit}"
        raise protocol.ProtocolError("bad_message", text)


class NewTable(Body):
    """What is asked for a new table."""

    title: Annotated[str, StringConstraints(max_length=_MAX_TITLE)] = ""
    preset: Annotated[str, StringConstraints(max_length=80)] = "geo_patrol"
    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None = None
    """A scenario as TOML instead of a preset; it may extend a preset, but no file."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    clock: Annotated[float, Field(ge=1, le=604_800)] | None = None
    """Seconds for a phase."""
    on_timeout: Literal["hold", "forfeit"] = "hold"
    hints: bool = True
    """Whether people may ask for hints."""
    alpha: Annotated[str, StringConstraints(min_length=1, max_length=100)] = "open"
    """"open": anybody may take the seat; "link": its secret is returned; otherwise the name of an agent."""
    bravo: Annotated[str, StringConstraints(min_length=1, max_length=100)] = "open"


def _read_last(path: Path) -> Replay:
    """Return a replay with its last phase alone, to append to."""
    replay = read_replay(path)
    replay.phases = replay.phases[-1:]
    return replay


def _is_cut_short(path: Path) -> bool:
    """Return whether a replay without a game is what a lost machine may leave of one: its beginning, nothing or NULs."""
    start = path.read_bytes()[:2].rstrip(b"\0")
    return b"\x1f\x8b".startswith(start)


class TableStore(Store[SavedTable, Table]):
    """The tables of a server. In memory are games that somebody plays or watches, and as many others as there is room for.

    Args:
        folder: folder of all files; created if necessary. One server uses it at a time.
        max_tables: how many games may be in progress at once; half as many of an address.
        own_agents: see ``make_seat_agent``.
        is_guest: whether the folder is that of a server which is running: new games are added to it, of which it hears
            when somebody opens them, and no others are touched.

    Attributes:
        max_tables: how many games may be in progress at once.
        own_agents: that the operator allows.
        can_hide_enemies: whether games that hide enemies can begin: what only they need may not be compiled yet.
        of_classes: the classes of tables for which there are files when it starts.
        observers: called with a table that leaves memory.
        arrivals: called with a table that comes into memory.

    Raises:
        GeoPatrolError: another server uses the folder.
    """

    def __init__(
        self,
        folder: Path,
        max_tables: int = 200,
        own_agents: frozenset[str] = frozenset(),
        *,
        is_guest: bool = False,
    ) -> None:
        super().__init__(folder, SavedTable, self._restore_table, "table", max_tables + MAX_FINISHED)
        self.max_tables, self.own_agents, self.can_hide_enemies = max_tables, own_agents, True
        self.of_classes: dict[str, str] = {}
        self.observers: list[Callable[[Table], None]] = []
        self.arrivals: list[Callable[[Table], None]] = []
        self._lock = FileLock(folder / ".lock", mode=0o600, thread_local=False)
        if is_guest:
            return
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise GeoPatrolError(f"{folder} is in use by another server: end it, or use another folder") from None
        sweep_temporary_files(folder)
        saved = self.read_all()
        self.of_classes = {name: one.classroom for name, one in saved.items() if one.classroom}
        for is_over, count in ((True, MAX_FINISHED), (False, max_tables)):  # others when somebody opens them
            for name in [name for name, one in saved.items() if (one.is_over or one.is_stopped) == is_over][-count:]:
                table = self.load(name, saved[name])
                if table is not None:
                    table.note_end()  # if the server was killed before that was saved
                    self._alive[name] = self.items[name] = table

    def _restore_table(self, name: str, saved: SavedTable) -> Table:
        table = Table(name, saved, self.folder, self.own_agents)
        table.resume()
        if table.loss:
            self._note_damage(name, RecordingError(table.loss))
        return table

    def last_change(self, name: str) -> float:
        """Return when a table was opened, or its last phase was played."""
        paths = (self.folder / f"{name}.json", self.folder / f"{name}.jsonl.gz")
        return max(path.stat().st_mtime for path in paths if path.exists())

    def keep(self, item: Table) -> None:
        """Keep a table in memory, if necessary instead of one at which nobody is.

        Raises:
            ProtocolError: somebody is at all of them.
        """
        if item.id not in self.items:
            if item.is_over:
                self._reduce([one for one in self.items.values() if one.is_over], MAX_FINISHED)
            else:
                self.make_room(item.saved.opener)
            self._alive[item.id] = self.items[item.id] = item
            for observer in self.arrivals:
                observer(item)
        self.items.move_to_end(item.id)

    def make_room(self, opener: str) -> None:
        """Remove a game from memory at which nobody is, if there is no room for another game.

        Args:
            opener: the address that opens it.

        Raises:
            ProtocolError: somebody is at all of them.
        """
        playing = [one for one in self.items.values() if not one.is_over]
        limit = max(self.max_tables // 2, 1)
        if not self._reduce([one for one in playing if one.saved.opener == opener], limit):
            text = f"{limit} games that were opened from your address are being played: try again later"
            raise protocol.ProtocolError("too_many", text, _RETRY_SECONDS)
        if not self._reduce([one for one in playing if one.id in self.items], self.max_tables):
            text = f"{self.max_tables} games are in progress: try again later"
            raise protocol.ProtocolError("too_many", text, _RETRY_SECONDS)

    def _reduce(self, tables: list[Table], limit: int) -> bool:
        """Remove tables from memory until there is room for one more of them; return whether there is."""
        idle = sorted((one for one in tables if one.is_idle), key=lambda one: one.last_used)
        excess = idle[: max(len(tables) - limit + 1, 0)]
        for table in excess:
            self.unload(table)
        return len(tables) - len(excess) < limit

    def idle(self, seconds: float) -> list[Table]:
        """Return the games in memory that go on, at which nobody has been for a time."""
        now = time.monotonic()
        playing = (one for one in self.items.values() if not one.is_over)
        return [one for one in playing if one.is_idle and now - one.last_used > seconds]

    def unload_idle(self, seconds: float) -> None:
        """Remove games from memory at which nobody has been for a time, but for the latest that are over."""
        self._reduce([one for one in self.items.values() if one.is_over], MAX_FINISHED + 1)
        for table in self.idle(seconds):
            self.unload(table)

    def unload(self, table: Table) -> None:
        """Remove a table from memory; its files stay."""
        del self.items[table.id], self._alive[table.id]
        table.keep_unfinished()
        with suppress(OSError):
            table.close()
        for observer in self.observers:
            observer(table)

    def remove(self, name: str) -> None:
        """Remove a table for good at which no phase was played, whether it is in memory or not."""
        if name in self.items:
            self.unload(self.items[name])
        with suppress(OSError):
            (self.folder / f"{name}.json").unlink()

    def open_table(self, new: NewTable, **options: Any) -> tuple[Table, dict[Side, str]]:
        """Make a table as ``make_table`` does, and keep it.

        Raises:
            ProtocolError: there are too many.
        """
        table, links = self.make_table(new, **options)
        self.add(table)
        return table, links

    def add(self, item: Table) -> None:
        """Save a new table, and keep it.

        Raises:
            ProtocolError: there are too many, or it cannot be saved.
        """
        self.make_room(item.saved.opener)
        super().add(item)

    def keep_new(self, item: Table) -> None:
        """Keep a new table that has been saved.

        Raises:
            ProtocolError: there are too many.
        """
        try:
            self.keep(item)
        except protocol.ProtocolError:
            self.remove(item.id)
            raise

    def make_table(
        self,
        new: NewTable,
        taken: Mapping[Side, Seat] | None = None,
        config: GameConfig | None = None,
        **origin: Any,
    ) -> tuple[Table, dict[Side, str]]:
        """Return a new table with the secrets of the seats that links lead to. This may run in a thread.

        Args:
            new: what is asked for.
            taken: seats that are taken already, whatever is asked for them.
            config: what ``load_setup`` returns for it, if it is known.
            origin: further fields of ``SavedTable``.

        Raises:
            ProtocolError: an agent is unknown, or the game is too long.
            ConfigError: the scenario is wrong.
        """
        seed = fresh_seed() >> 1 if new.seed is None else new.seed
        config = config or self.load_setup(new)
        sampled = Game(config, seed=seed).config
        seats: list[Seat] = []
        links: dict[Side, str] = {}
        for side, name in zip(SIDES, (new.alpha, new.bravo), strict=True):
            is_person = name in ("open", "link")
            seat = Seat(kind="open" if is_person else "agent", name=_PERSON if is_person else name)
            seats.append((taken or {}).get(side, seat))
            if name == "link":
                links[side] = secrets.token_urlsafe(24)
                seats[-1].take(links[side])
        saved = SavedTable(
            title=printable(new.title or config.title, _MAX_TITLE),
            config=sampled.to_dict(),
            seed=seed,
            clock=new.clock,
            on_timeout=new.on_timeout,
            hints=new.hints,
            alpha=seats[0],
            bravo=seats[1],
            **origin,
        )
        table = Table(secrets.token_hex(6), saved, self.folder, self.own_agents)
        for side, agent in zip(SIDES, table.live.agents, strict=True):
            if agent is not None:
                saved.seat(side).name = agent.name  # of which there may be short forms
        return table, links

    def make_continued_table(
        self,
        config: GameConfig,
        seed: int,
        names: Sequence[str],
        past: Iterable[NDArray[np.integer[Any]]],
        **origin: Any,
    ) -> tuple[Table, dict[Side, str]]:
        """Return a table that goes on with a game, and the secrets of the seats of people. This may run in a thread.

        Args:
            config: configuration of the game.
            seed: its seed: orders that were given have the same outcomes again.
            names: names of the agents of alpha and bravo; "person" gets a secret.
            past: (2, 11) order codes of every phase so far.
            origin: further fields of ``SavedTable``.

        Raises:
            ProtocolError: an agent cannot be made, or the phases cannot be saved.
        """
        alpha, bravo = (Seat(kind="open" if name == _PERSON else "agent", name=name) for name in names)
        saved = SavedTable(
            title=printable(config.title, _MAX_TITLE),
            config=config.to_dict(),
            seed=seed,
            clock=None,
            on_timeout="hold",
            alpha=alpha,
            bravo=bravo,
            **origin,
        )
        links = {side: secrets.token_urlsafe(24) for side in SIDES if saved.seat(side).kind == "open"}
        for side, secret in links.items():
            saved.seat(side).take(secret)
        table = Table(secrets.token_hex(6), saved, self.folder, self.own_agents)
        table.save()  # before the phases, which are noted in its file
        table.live.resume(past)
        table.note_end()
        table.finish_phase()
        return table, links

    def load_setup(self, new: NewTable) -> GameConfig:
        """Return the configuration of a new table. This may run in a thread.

        Raises:
            ProtocolError: there is no such preset, the scenario is no TOML, or the game is too long; or it hides enemies, and
                cannot begin yet.
            ConfigError: the scenario is wrong.
        """
        source = read_scenario("preset", new.preset, new.scenario, preset_names())
        config = load_config(source, {"illegal_orders": "forfeit"} if new.on_timeout == "forfeit" else None)
        check_length(config)
        if config.hides_enemies and not self.can_hide_enemies:
            text = (
                "games that hide enemies are still being prepared, which takes a minute the first time: try again soon"
            )
            raise protocol.ProtocolError("too_many", text, _PREPARING_SECONDS)
        return config

    def close(self) -> None:
        """Close the files of all tables."""
        for table in self.items.values():
            table.keep_unfinished()
            with suppress(OSError):
                table.close()
        self._lock.release()
