"""Commands, run in this process."""

from typer.testing import CliRunner

from geo_patrol.cli.app import app as geo_patrol


def run(*arguments, app=geo_patrol, columns=80, typed=None):
    """Return what Typer's runner does: exit_code, stdout, stderr, output. An exception that is no exit is raised.

    Without ``columns``, the output has no width, as in a file.
    """
    runner = CliRunner(env={"COLUMNS": columns and str(columns), "NO_COLOR": "1"})
    ran = runner.invoke(app, list(map(str, arguments)), input=typed)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return ran
