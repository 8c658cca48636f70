"""Every statement of SECURITY.md has a test."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCUMENT = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
PROVED_BY = {
    "Files": {
        "Bounds": ["test_fuzz.py::test_damaged_files_are_loaded_or_refused_within_bounds"],
        "Counts": [
            "test_hostile_files.py::test_tables_with_a_million_fields_are_refused_at_once",
            "test_hostile_files.py::test_variants_are_counted_before_they_are_read",
            "test_hostile_files.py::test_keys_with_many_dots_are_refused_before_they_are_parsed",
        ],
        "Regular files": [
            "test_hostile_files.py::test_huge_files_are_refused_without_being_read",
            "test_hostile_files.py::test_pipes_and_devices_are_refused_at_once",
        ],
        "Policies": ["test_hostile_files.py::test_numbers_that_a_cast_makes_infinite_are_refused"],
        "Solutions": [
            "test_hostile_files.py::test_arrays_that_are_no_solution_are_refused",
            "test_hostile_files.py::test_metadata_that_are_of_no_solution_are_refused",
            "test_hostile_files.py::test_solutions_with_enormous_or_truncated_contents_are_refused_in_bounded_memory",
        ],
        "Positions": ["test_hostile_files.py::test_odds_of_hostile_files_are_refused_in_one_line"],
        "ONNX": [
            "agents/test_onnx_networks.py::test_weights_in_other_files_are_refused",
            "agents/test_onnx_networks.py::test_operators_from_elsewhere_are_refused",
            "agents/test_onnx_networks.py::test_files_that_are_no_models",
            "agents/test_onnx_networks.py::test_loading_computes_nothing",
        ],
        "Replays and recordings": [
            "replays/test_packed_files.py::test_reading_ends_after_many_bytes_with_faults",
            "test_hostile_files.py::test_verify_gives_up_on_hostile_games",
            "replays/test_packed_files.py::test_files_of_tiny_frames_are_refused_early",
        ],
        "Resuming": ["cli/test_replay_command.py::test_untrusted_games_are_not_resumed_with_any_agent"],
    },
    "Terminals": {
        "Messages": [
            "test_hostile_files.py::test_messages_quote_hostile_text_escaped_and_bounded",
            "test_hostile_files.py::test_unknown_keys_are_escaped",
        ],
        "Titles": ["replays/test_round_trip.py::test_long_texts_are_shortened"],
    },
    "Agents": {
        "TorchScript": ["training/test_published_networks.py::test_files_that_are_no_torchscript"],
        "Answers": ["agents/test_own_agents.py::test_answers_are_data_and_must_be_whole_before_the_deadline"],
        "Programs": [
            "agents/test_own_agents.py::test_programs_that_an_agent_starts_end_with_the_match_however_that_ends"
        ],
    },
    "The server": {
        "Secrecy": [
            "web/test_secrecy.py::test_nothing_is_known_of_orders_before_both_sides_are_in",
            "web/test_secrecy.py::test_a_server_that_leaks_is_found",
            "web/test_server.py::test_files_of_games_in_progress_are_refused",
        ],
        "Seats": [
            "web/test_server.py::test_without_the_secret_no_order_is_taken",
            "web/test_server.py::test_a_seat_that_is_left_gets_another_secret",
        ],
        "Flights": [
            "web/test_flights.py::test_nothing_of_a_flight_is_stored",
            "web/test_flights.py::test_more_orders_than_a_mission_has_turns_are_refused",
            "web/test_flights.py::test_wrong_missions_of_ones_own_are_refused",
        ],
        "Messages": ["web/test_fuzz_server.py::test_damaged_messages_and_requests_disturb_no_game"],
        "Fair shares": [
            "web/test_attacks.py::test_wrong_secrets_do_not_use_up_what_a_pupil_may_ask_for",
            "web/test_attacks.py::test_a_client_that_floods_the_lesson_starves_nobody_else",
            "web/test_attacks.py::test_names_that_nobody_plays_keep_nobody_out",
            "web/test_attacks.py::test_an_address_has_at_most_half_of_the_games",
            "web/test_attacks.py::test_clients_take_turns_at_a_thread",
            "web/test_attacks.py::test_cheap_agents_have_threads_of_their_own",
            "web/test_attacks.py::test_a_scenario_of_thousands_of_keys_is_refused_before_it_is_parsed",
            "web/test_attacks.py::test_a_scenario_whose_variants_repeat_many_choices_is_refused_before_they_are_checked",
        ],
        "Limits": [
            "web/test_limits.py::test_too_many_connections_are_refused_and_others_stay",
            "web/test_limits.py::test_who_connects_again_and_again_has_to_wait",
            "web/test_limits.py::test_an_address_cannot_open_all_tables",
            "web/test_limits.py::test_too_many_messages_are_refused_with_a_time",
            "web/test_limits.py::test_too_many_requests_get_429_and_a_time",
            "web/test_limits.py::test_who_says_nothing_is_disconnected",
            "web/test_limits.py::test_a_body_that_does_not_arrive_is_not_waited_for",
            "web/test_connections.py::test_bodies_that_are_cut_off_are_not_logged_and_counted",
        ],
        "Slow and fast clients": [
            "web/test_connections.py::test_who_sends_more_frames_than_a_client_needs_is_disconnected",
            "web/test_connections.py::test_others_get_their_turn_after_every_few_frames",
            "web/test_connections.py::test_a_client_that_takes_nothing_is_aborted",
            "web/test_connections.py::test_nothing_is_read_while_the_client_does_not_read",
        ],
        "Memory": [
            "web/test_limits.py::test_a_game_that_nobody_plays_leaves_memory_and_comes_back",
            "web/test_limits.py::test_a_game_that_has_not_begun_leaves_memory_though_it_has_a_clock",
            "web/test_limits.py::test_a_server_restores_the_latest_games_and_others_when_they_are_opened",
        ],
        "Its folder": [
            "web/test_attacks.py::test_only_the_servers_account_reads_its_files",
            "web/test_attacks.py::test_a_second_server_on_the_same_folder_is_refused",
            "web/test_attacks.py::test_reading_a_table_changes_no_file",
            "web/test_attacks.py::test_a_queued_request_finds_the_game_that_was_opened_meanwhile",
        ],
        "Names": [
            "web/test_attacks.py::test_a_person_who_is_called_like_an_agent_is_marked",
            "web/test_names.py::test_no_spelling_passes_for_an_agent",
            "web/test_names.py::test_names_that_look_alike_are_the_same",
        ],
        "Other sites": ["web/test_server.py::test_requests_of_other_sites_are_refused"],
        "Agents for clients": [
            "web/test_server.py::test_bad_setups_are_refused_in_a_line",
            "web/test_endings.py::test_an_agent_that_fails_again_and_again_loses_and_the_page_is_told_why",
            "web/test_endings.py::test_why_an_agent_of_the_operator_cannot_be_made_is_told_to_the_operator",
        ],
        "Players elsewhere": [
            "web/test_hostile_servers.py::test_no_field_of_a_message_ends_in_a_traceback",
            "web/test_hostile_servers.py::test_answers_of_other_servers_are_errors",
        ],
    },
    "Killed processes and lost power": {
        "A file that is written": [
            "test_lost_machine.py::test_a_file_that_is_replaced_is_the_old_one_or_the_new_one",
            "test_lost_machine.py::test_a_policy_or_a_solution_is_the_old_one_or_the_new_one",
        ],
        "A game that is saved while it is played": [
            "test_lost_machine.py::test_a_saved_game_has_all_phases_that_were_recorded",
            "replays/test_round_trip.py::test_a_killed_process_loses_at_most_the_phase_in_progress",
        ],
        "A campaign": [
            "test_lost_machine.py::test_a_journal_has_all_chunks_that_were_appended",
            "test_lost_machine.py::test_after_a_fault_of_the_disk_at_any_call_the_next_run_has_the_same_games",
            "test_lost_machine.py::test_a_campaign_on_a_lost_machine_goes_on_to_the_same_games",
            "base/test_full_disk.py::test_a_journal_holds_whole_lines_only",
            "evaluation/test_processes.py::test_a_killed_tournament_can_be_resumed",
        ],
        "The cache of compiled code": ["test_lost_machine.py::test_compiled_code_is_that_of_its_types_or_is_missing"],
        "A server": [
            "web/test_commands.py::test_all_games_go_on_when_the_server_is_killed_in_the_middle_of_their_phases",
            "test_lost_machine.py::test_a_server_loses_no_acknowledged_phase",
            "test_lost_machine.py::test_a_fault_of_the_disk_at_any_call_loses_no_acknowledged_phase",
            "test_lost_machine.py::test_a_phase_is_stored_before_it_is_counted_and_shown",
            "base/test_files.py::test_temporary_files_of_killed_processes_are_swept",
        ],
    },
    "Disks that are full, damaged or shared": {
        "Full": [
            "base/test_full_disk.py::test_tables_that_cannot_be_written_name_their_file_and_leave_the_old_one",
            "base/test_full_disk.py::test_what_was_saved_before_the_disk_was_full_can_be_read",
            "base/test_full_disk.py::test_a_game_that_cannot_be_saved_is_not_called_saved",
            "web/test_attacks.py::test_orders_are_refused_while_the_disk_is_full_and_the_game_goes_on_when_there_is_room",
        ],
        "Damaged": [
            "web/test_attacks.py::test_a_damaged_replay_is_reported_and_the_table_kept_as_it_is",
            "test_lost_machine.py::test_a_table_goes_back_to_its_last_readable_phase_and_says_so",
        ],
        "Shared": ["base/test_full_disk.py::test_a_folder_is_used_by_one_process_at_a_time"],
    },
    "The cache of compiled code": {
        "Damaged": ["base/test_compile_cache.py::test_damaged_files_are_recompiled_and_replaced"],
        "Read-only": ["base/test_compile_cache.py::test_code_in_a_folder_that_cannot_be_written_is_used"],
        "Full": ["base/test_compile_cache.py::test_a_full_disk_lets_the_program_run_uncached"],
    },
}
"""Sections; in them the first words of a statement, in bold; and the tests of it."""


def statements(section):
    """Return the first words of all statements of a section, but of those that say what is not promised."""
    text = section.split("does not protect against:")[0]
    return [words or line for line, words in re.findall(r"(?m)^- ((?:\*\*(.+?)\*\*)?.*)", text)]


def test_every_statement_has_tests():
    sections = dict(section.split("\n", 1) for section in DOCUMENT.split("\n## ")[1:])
    found = {title: [words.rstrip(".") for words in statements(text)] for title, text in sections.items()}
    assert found == {"Reporting": []} | {title: list(tests) for title, tests in PROVED_BY.items()}


@pytest.mark.parametrize(
    "test", [test for section in PROVED_BY.values() for tests in section.values() for test in tests]
)
def test_every_test_exists(test):
    file, name = test.split("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
