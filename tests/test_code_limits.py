"""Limits that keep the code readable: lengths of functions and files, numbers of parameters."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MAX_FUNCTION_LINES, MAX_FILE_LINES, MAX_PARAMETERS = 50, 350, 8
FILES = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
FUNCTIONS = {
    f"{name}:{node.lineno} {node.name}": node
    for name, text in FILES.items()
    for node in ast.walk(ast.parse(text))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
}


def count_parameters(function):
    """Return the number of parameters without self."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return len([argument for argument in named if argument and argument.arg not in {"self", "cls"}])


def is_exempt(function):
    """Return whether a function may have more parameters: compiled ones and commands."""
    names = {node.id for each in function.decorator_list for node in ast.walk(each) if isinstance(node, ast.Name)}
    return not names.isdisjoint({"jit", "jitable", "jitable_call", "plain_errors"})


def test_lengths_of_functions():
    lengths = {name: node.end_lineno - node.lineno + 1 for name, node in FUNCTIONS.items()}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_numbers_of_parameters():
    counts = {name: count_parameters(node) for name, node in FUNCTIONS.items() if not is_exempt(node)}
    assert {name: count for name, count in counts.items() if count > MAX_PARAMETERS} == {}


def test_lengths_of_files():
    lengths = {name: text.count("\n") for name, text in FILES.items()}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}
