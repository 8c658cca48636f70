"""A machine that is lost at any moment: what was acknowledged before is there, or it is said what is not."""

import random
from contextlib import nullcontext, suppress
from functools import partial

import numpy as np
import pytest

pytest.importorskip("starlette")

from geo_patrol import GeoPatrolError, load_config, play_match, play_tournament, solve
from geo_patrol.agents.policy import Widths, read_policies, shapes, write_weights
from geo_patrol.base.compile_cache import _CheckedFile
from geo_patrol.base.files import atomic_write
from geo_patrol.evaluation.campaign import GAMES, Journal
from geo_patrol.evaluation.chunks import ChunkRecord, PlannedMatch
from geo_patrol.evaluation.executors import play_in_worker
from geo_patrol.replays import Recorder, ReplayReader, check, read_replay
from geo_patrol.solving import read_solution, write_solution
from geo_patrol.studies import play_sweep
from geo_patrol.studies.study import STUDY
from geo_patrol.web.app import Server
from geo_patrol.web.protocol import ProtocolError, WentBack
from geo_patrol.web.table_server import TableServer
from geo_patrol.web.tables import NewTable, TableStore
from tests.support.coroutines import run_coroutine
from tests.support.losing_disk import LosingDisk

TABLE = {"preset": "king_of_the_hill", "seed": 4, "alpha": "open", "bravo": "link"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "used").mkdir()
    return tmp_path / "used"


@pytest.fixture
def disk(folder, monkeypatch):
    return LosingDisk(folder, monkeypatch)


def left_in(tmp_path, files):
    """Return a new folder with files."""
    folder = tmp_path / f"left {random.getrandbits(64):x}"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def play_phase_of(table, rng):
    legal = {side: table.game.legal_orders(side) for side in ("alpha", "bravo")}
    table.submitted = {side: tuple(rng.choice(list(one)) for one in orders.values()) for side, orders in legal.items()}
    table.close_phase()
    table.play()
    table.finish_phase()


def use(folder, acknowledge):
    """Play a game on two servers, one after the other; return its identifier."""
    rng, tables = random.Random(3), TableStore(folder)
    table = tables.open_table(NewTable(**TABLE))[0]
    done = {"phases": 0, "taken": False, "settled": None}

    def attempt(action, **said):
        try:
            action()
        except ProtocolError:
            pass  # it has not happened
        except OSError:
            table.restart()
        else:
            acknowledge(done.update(said) or dict(done))

    attempt(lambda: None)
    for phase in range(1, 6):
        before = table.num_events
        attempt(partial(play_phase_of, table, rng), phases=before + 1)
        if phase == 1:
            attempt(partial(table.take_seat, "alpha"), taken=True)
        if phase == 3:
            tables.close()
            tables = TableStore(folder)
            table = tables.items[table.id]
    attempt(partial(table.resign, "alpha"), settled="resigned (alpha)")
    tables.close()
    return table.id


def check_table(tables, name, done):
    """Check that a table is as it was acknowledged to be, or later."""
    assert tables.damaged == {}
    table = tables.items[name]
    assert table.num_events - table.is_over >= done["phases"]
    assert not done["taken"] or table.saved.alpha.kind == "taken"
    assert done["settled"] in (None, table.saved.settled)
    if not table.is_over:
        play_phase_of(table, random.Random(1))
    tables.close()
    if table.replay_path.exists():
        assert check(read_replay(table.replay_path)) is None
    again = TableStore(tables.folder)
    assert again.damaged == {}
    assert again.items[name].num_events == table.num_events
    again.close()


@pytest.mark.slow
def test_a_server_loses_no_acknowledged_phase(disk, folder, tmp_path):
    name = use(folder, lambda done: setattr(disk, "acknowledged", done))
    disk.note()
    count = 0
    for files, done in disk.remains():
        count += 1
        if done is not None:
            check_table(TableStore(left_in(tmp_path, files)), name, done)
    assert count > 100


@pytest.mark.slow
def test_a_fault_of_the_disk_at_any_call_loses_no_acknowledged_phase(tmp_path, monkeypatch):
    def run(call):
        """Use a server whose disk fails at a call; return how many calls there were."""
        folder, said = left_in(tmp_path, {}), []
        with monkeypatch.context() as patch:
            disk = LosingDisk(folder, patch)
            disk.fail_at = call
            try:
                name = use(folder, said.append)
            except ProtocolError:  # the table could not be opened
                name = None
        if name is not None:
            check_table(TableStore(folder), name, said[-1])
        return disk.num_calls

    num_calls = run(None)
    assert num_calls > 20
    for call in range(1, num_calls + 1):
        run(call)


def play_and_save_a_match(folder):
    path = folder / "games.jsonl.gz"
    if path.exists():
        list(ReplayReader(path))  # what is left can be read
        path.unlink()  # no game is written over
    play_match("idle", "random", config="case1", games=2, seed=2, save=path)
    return path.read_bytes()


def play_a_tournament(folder):
    play_tournament(["idle", "random"], config="case1", games=4, seed=2, folder=folder, processes=1)
    return (folder / GAMES).read_bytes()


def play_a_study(folder):
    play_sweep("idle", "random", ["turn_limit=2,3"], config="case1", games=4, seed=2, folder=folder, processes=1)
    return (folder / GAMES).read_bytes(), (folder / STUDY).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("stays_broken", [False, True])
@pytest.mark.parametrize("play", [play_and_save_a_match, play_a_tournament, play_a_study])
def test_after_a_fault_of_the_disk_at_any_call_the_next_run_has_the_same_games(
    play, stays_broken, tmp_path, monkeypatch
):
    def run(call):
        """Play on a disk that fails at a call, then on a sound one; return how many calls there were, and what is left."""
        folder = left_in(tmp_path, {})
        with monkeypatch.context() as patch:
            disk = LosingDisk(folder, patch)
            disk.fail_at, disk.stays_broken = call, stays_broken
            with suppress(OSError, GeoPatrolError) if call else nullcontext():
                assert play(folder) == whole
        return disk.num_calls, play(folder)

    whole = play(left_in(tmp_path, {}))
    num_calls, _ = run(None)
    assert num_calls >= 6
    for call in range(1, num_calls + 1):
        assert run(call)[1] == whole


@pytest.mark.slow
@pytest.mark.parametrize("play", [play_a_tournament, play_a_study])
def test_a_campaign_on_a_lost_machine_goes_on_to_the_same_games(play, disk, folder, tmp_path):
    whole = play(folder)
    disk.note()
    remains = [files for files, _ in disk.remains()]
    assert len(remains) > 10
    for files in remains:
        assert play(left_in(tmp_path, files)) == whole


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_a_saved_game_has_all_phases_that_were_recorded(disk, folder, tmp_path, ending):
    path, disk.acknowledged = folder / f"game.{ending}", 0
    with Recorder(path, load_config("case1")) as recorder:
        for _ in range(2):
            recorder.begin(seed=1, alpha="idle", bravo="idle")
            for _ in range(4):
                recorder.record()
                disk.acknowledged += 1
                disk.note()
    for files, count in disk.remains():
        if count:
            left = left_in(tmp_path, files) / path.name
            assert sum(len(replay.phases) for replay in ReplayReader(left)) >= count


def test_a_file_that_is_replaced_is_the_old_one_or_the_new_one(disk, folder, tmp_path):
    for disk.acknowledged in range(3):
        with atomic_write(folder / "table.csv") as file:
            file.write(f"{disk.acknowledged + 1} " * 5000)
    for files, count in disk.remains():
        content = files.get("table.csv", b"").decode()
        assert content in ("", f"{count} " * 5000, f"{count + 1} " * 5000)
        assert count == 0 or content


def test_a_policy_or_a_solution_is_the_old_one_or_the_new_one(disk, folder, tmp_path):
    shared = shapes(Widths(2, 2, 2, 1))
    policies = [{name: np.full(shape, value, np.float32) for name, shape in shared.items()} for value in (0.25, 0.5)]
    solutions = [solve(load_config("duel", {"turn_limit": 1, "both.hva.fuel": fuel})) for fuel in (3, 4)]
    for disk.acknowledged in range(2):
        write_weights(folder / "policy.safetensors", policies[disk.acknowledged])
        write_solution(folder / "solution.safetensors", solutions[disk.acknowledged])
    disk.acknowledged = 2
    disk.note()
    num_read = 0
    for files, count in disk.remains():
        for name, read in (("policy", read_policies), ("solution", read_solution)):
            content = files.get(f"{name}.safetensors", b"")
            if content:  # an empty one stands for the new file until it is complete
                read(left_in(tmp_path, files) / f"{name}.safetensors")
                num_read += 1
            assert content or count == 0
    assert num_read > 10


@pytest.mark.parametrize("next_key", ["first", "second"])
def test_compiled_code_is_that_of_its_types_or_is_missing(disk, folder, tmp_path, capsys, next_key):
    """Whatever is left of the cache, the next process may be killed after it has written the index."""
    stored = {key: f"code for {key}" * 50 for key in ("first", "second")}

    def open_cache(where):
        return _CheckedFile(str(where), "function", "stamp")

    for key, code in stored.items():
        open_cache(folder).save(key, code)
    disk.note()
    assert {key: open_cache(folder).load(key) for key in stored} == stored
    for files, _ in disk.remains(of_one=True):
        where = left_in(tmp_path, files)
        for _ in range(2):
            assert all(open_cache(where).load(key) in (None, code) for key, code in stored.items())
            with suppress(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
                patch.setattr(_CheckedFile, "_save_data", interrupt)
                open_cache(where).save(next_key, stored[next_key])
        open_cache(where).save(next_key, stored[next_key])
        assert open_cache(where).load(next_key) == stored[next_key]


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_journal_has_all_chunks_that_were_appended(disk, folder, tmp_path):
    (chunk,) = PlannedMatch(("idle", "random"), load_config("case1"), seed=1).chunks(20)
    record, plan = ChunkRecord.of(chunk, play_in_worker(chunk)), {"kind": "test"}
    journal, disk.acknowledged = Journal(folder, plan), 0
    for _ in range(3):
        journal.append(record)
        disk.acknowledged += 1
        disk.note()
    journal.close()
    for files, count in disk.remains():
        if count:
            again = Journal(left_in(tmp_path, files), plan)
            assert len(list(again.read())) >= count
            again.close()


# What only a disk that does not keep what it has stored can lose


def damaged_game(folder, damage):
    """Return the identifier of a game of five phases whose files were damaged then."""
    tables, rng = TableStore(folder), random.Random(3)
    table = tables.open_table(NewTable(**TABLE))[0]
    contents = []
    for _ in range(5):
        play_phase_of(table, rng)
        contents.append(table.replay_path.read_bytes())
    tables.close()
    damage(table, contents)
    return table.id


def lose_the_end(table, contents):
    table.replay_path.write_bytes(contents[2] + bytes(len(contents[4]) - len(contents[2])))


def status_of(table):
    async def ask():
        async def run(work):
            work()

        server = TableServer(table, run, run, run)
        status = server.status()
        await server.close()
        return status

    return run_coroutine(ask())


@pytest.mark.parametrize(
    ("damage", "num_left", "words"),
    [
        (lose_the_end, 3, "3 of 5 phases can be read (is damaged: "),
        (lambda table, contents: table.replay_path.write_bytes(contents[1]), 2, "2 of 5 phases can be read"),
        (lambda table, _: table.replay_path.write_bytes(b""), 0, "0 of 5 phases can be read"),
        (lambda table, contents: table.replay_path.write_bytes(bytes(len(contents[4]))), 0, "0 of 5 phases"),
        (lambda table, contents: table.replay_path.write_bytes(contents[0][:100]), 0, "0 of 5 phases can be read"),
    ],
)
def test_a_table_goes_back_to_its_last_readable_phase_and_says_so(folder, caplog, damage, num_left, words):
    name = damaged_game(folder, damage)
    tables = TableStore(folder)
    table = tables.items[name]
    assert table.num_events == num_left
    (loss,) = Server(tables).damaged
    assert loss.startswith(f"{table.replay_path}: ")
    assert words in loss
    assert loss.endswith(f"the game goes back to turn {table.game.turn}, {table.game.phase}")
    assert loss in caplog.text
    told = WentBack(turn=table.game.turn, phase=table.game.phase, lost=5 - num_left)
    assert status_of(table).went_back == told
    assert table.num_known(num_left) == num_left
    damaged = table.replay_path.read_bytes()
    for _ in range(2):
        play_phase_of(table, random.Random(1))
    assert table.num_known(num_left + 1) == 0, "a client may have the event of that number that was lost"
    tables.close()
    assert check(read_replay(table.replay_path)) is None
    assert table.damaged_path.read_bytes() == damaged
    again = TableStore(folder)
    table = again.items[name]
    assert (again.damaged, table.num_events, status_of(table).went_back) == ({}, num_left + 2, told)
    assert table.num_known(num_left + 2) == 0


@pytest.mark.parametrize("is_resigned", [False, True])
def test_what_is_saved_of_a_table_before_its_next_phase_forgets_no_loss(folder, is_resigned):
    name = damaged_game(folder, lose_the_end)
    tables = TableStore(folder)
    table = tables.items[name]
    damaged = table.replay_path.read_bytes()
    table.resign("bravo") if is_resigned else table.take_seat("alpha")
    tables.close()
    tables = TableStore(folder)
    table = tables.items[name]
    assert (table.num_events, table.loss, status_of(table).went_back.lost) == (3 + is_resigned, "", 2)
    if not is_resigned:
        play_phase_of(table, random.Random(1))
    tables.close()
    assert table.damaged_path.read_bytes() == damaged


def test_a_finished_game_that_has_lost_its_end_goes_on(folder):
    def finish(table, contents):
        table.live.observers.clear()
        table.saved.is_over = True
        table.save()
        lose_the_end(table, contents)

    name = damaged_game(folder, finish)
    table = TableStore(folder).items[name]
    assert (table.is_over, table.saved.is_over, table.num_events) == (False, False, 3)


@pytest.mark.parametrize("end", [b"\0\0\0", b"\n\0\0\n", b"\0" * 5000])
def test_nuls_instead_of_newlines_count_as_nothing(folder, end):
    def damage(table, _):
        table.path.write_bytes(table.path.read_bytes().rstrip(b"\n") + b"\n" + end)

    name = damaged_game(folder, damage)
    tables = TableStore(folder)
    assert tables.damaged == {}
    assert tables.items[name].num_events == 5
    tables.items[name].take_seat("alpha")
    assert b"\0" not in tables.items[name].path.read_bytes()


def test_a_phase_is_stored_before_it_is_counted_and_shown(folder, monkeypatch):
    tables, order = TableStore(folder), []
    table = tables.open_table(NewTable(**TABLE))[0]
    disk = LosingDisk(folder, monkeypatch)
    note = table.note_phase
    monkeypatch.setattr(table, "note_phase", lambda: order.append(disk.num_calls) or note())
    play_phase_of(table, random.Random(1))
    tables.close()
    assert order[0] >= 2, "the file and its name are synced"
