"""Modules of user-defined agents: each agent plays with those of its own folder."""

import gc
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import AgentError, make_agent

BOT = """
from geo_patrol.agents.basic import StatelessAgent
import numpy as np
{imports}

class Mine(StatelessAgent):
    name = "mine"
    code = {code}

    def act(self, observations, action_masks, generator):
        return np.full(action_masks.shape[:2], self.code)

    def act_lazily(self):
        {lazily}
        return {code}
"""
IMPORTS = {
    "helpers.py": ("from helpers import CODE", "CODE"),
    "helpers/__init__.py": ("import helpers as named", "named.CODE"),
    "helpers/deep/codes.py": ("import helpers.deep.codes", "helpers.deep.codes.CODE"),
    "helpers/codes.py": ("from helpers.codes import *", "CODE"),
    "namespace/codes.py": ("from namespace import codes", "codes.CODE"),
    "common.py": ("import importlib; common = importlib.import_module(f'{__package__}.common')", "common.CODE"),
}


@pytest.fixture(autouse=True)
def _forgets_modules(tmp_path):
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def write_bot(folder, helper, code, imports, expression, file="agent.py"):
    """Write an agent that imports a helper in a folder; return its name."""
    path = folder / helper
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"CODE = {code}\n")
    for package in path.relative_to(folder).parents:
        if package != Path() and package.name != "namespace" and not (folder / package / "__init__.py").exists():
            (folder / package / "__init__.py").write_text("")
    bot = BOT.replace("{imports}", imports).replace("{code}", expression).replace("{lazily}", imports)
    (folder / file).write_text(bot if "*" not in imports else bot.replace(f"        {imports}\n", ""))
    return f"{folder / file}:Mine"


def write_two(tmp_path, helper, *imports):
    """Write two such agents, in folders ``a`` and ``b``, whose helpers have 5 and 7; return their names."""
    return [write_bot(tmp_path / folder, helper, code, *imports) for folder, code in (("a", 5), ("b", 7))]


@pytest.mark.parametrize(("helper", "imports"), IMPORTS.items())
def test_equally_named_helpers_of_two_agents(helper, imports, tmp_path):
    agents = [make_agent(name) for name in write_two(tmp_path, helper, *imports)]
    assert [agent.code for agent in agents] == [5, 7]
    assert [agent.act_lazily() for agent in agents] == [5, 7]
    assert "helpers" not in sys.modules


def test_relative_imports_in_a_package_of_helpers(tmp_path):
    names = write_two(tmp_path, "tools/codes.py", "from tools import CODE", "CODE")
    for folder in "ab":
        (tmp_path / folder / "tools" / "__init__.py").write_text("from .codes import CODE\nfrom tools.more import MORE")
        (tmp_path / folder / "tools" / "more.py").write_text("from . import codes\nimport base\nMORE = base.BASE")
        (tmp_path / folder / "base.py").write_text("from tools import codes\nBASE = codes.CODE")
    assert [make_agent(name).code for name in names] == [5, 7]


def test_a_helper_that_is_imported_when_the_agent_plays(tmp_path):
    names = write_two(tmp_path, "helpers.py", "", "0")
    for name in names:
        path = Path(name.removesuffix(":Mine"))
        path.write_text(path.read_text().replace("self.code)", "__import__('helpers').CODE)"))
    agents = [make_agent(name) for name in names]
    masks = np.ones((1, 11, 28), np.int8)
    for agent, code in zip(agents, (5, 7), strict=True):
        assert (agent.act(None, masks, None) == code).all()


def test_a_helper_that_changed_is_read_again(tmp_path):
    name = write_bot(tmp_path, "helpers.py", 5, *IMPORTS["helpers.py"])
    before = make_agent(name)
    (tmp_path / "helpers.py").write_text("CODE = 7\n")  # of the same size and perhaps the same second
    assert (make_agent(name).code, before.code, before.act_lazily()) == (7, 5, 5)


def test_a_module_of_that_name_that_the_program_has_imported(tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.mkdir()
    (program / "helpers.py").write_text("CODE = 1")
    monkeypatch.syspath_prepend(str(program))
    import helpers

    assert make_agent(write_bot(tmp_path / "a", "helpers.py", 5, *IMPORTS["helpers.py"])).code == 5
    assert sys.modules["helpers"] is helpers
    assert helpers.CODE == 1


def test_a_neighbour_does_not_hide_an_installed_package(tmp_path):
    for module in ("numpy", "random", "geo_patrol"):
        (tmp_path / f"{module}.py").write_text("raise AssertionError")
    name = write_bot(tmp_path, "helpers.py", 5, "import random; from helpers import CODE", "CODE")
    assert make_agent(name).code == 5


def test_equally_named_files_of_agents_have_classes_of_their_own(tmp_path):
    agents = [make_agent(name) for name in write_two(tmp_path, "helpers.py", *IMPORTS["helpers.py"])]
    for agent, code in zip(agents, (5, 7), strict=True):
        copy = pickle.loads(pickle.dumps(agent))
        assert type(copy) is type(agent)
        assert copy.code == code


def test_data_beside_a_helper(tmp_path):
    names = write_two(tmp_path, "lib/helpers.py", "from lib.helpers import CODE", "CODE")
    for name, folder, code in zip(names, "ab", (5, 7), strict=True):
        (tmp_path / folder / "lib" / "code.txt").write_text(str(code))
        (tmp_path / folder / "lib" / "helpers.py").write_text(
            "from pathlib import Path\nfrom importlib.resources import files\n"
            "CODE = int(Path(__file__).with_name('code.txt').read_text())\n"
            "assert CODE == int((files(__package__) / 'code.txt').read_text())\n"
        )
        assert make_agent(name).code == code


def test_modules_in_two_working_directories(tmp_path, monkeypatch):
    found = []
    for folder, code in (("a", 5), ("b", 7)):
        write_bot(tmp_path / folder, "helpers.py", code, *IMPORTS["helpers.py"], file="bots.py")
        monkeypatch.chdir(tmp_path / folder)
        found.append(make_agent("bots:Mine").code)
    assert found == [5, 7]
    with pytest.raises(AgentError, match=r"there is no module 'bots\.none'; it must be"):
        make_agent("bots.none:Mine")


def test_plain_names_lead_to_the_folder_of_the_only_agent_that_has_such_a_module(tmp_path):
    imports = "import importlib", "importlib.import_module('only_helpers').CODE"
    first = make_agent(write_bot(tmp_path / "a", "only_helpers.py", 5, *imports))
    assert first.code == 5
    with pytest.raises(AgentError, match=r"agents in .*a and .*b each have a module 'only_helpers': use an import"):
        make_agent(write_bot(tmp_path / "b", "only_helpers.py", 7, *imports))
    del first
    gc.collect()
    assert make_agent(f"{tmp_path}/b/agent.py:Mine").code == 7


def test_errors_name_modules_as_the_agent_does(tmp_path):
    with pytest.raises(AgentError, match=r"cannot be made: ModuleNotFoundError: No module named 'pack\.absent'$"):
        make_agent(write_bot(tmp_path, "pack/codes.py", 5, "import pack.absent", "0"))


def test_modules_go_with_their_agent(tmp_path):
    name = write_bot(tmp_path, "helpers.py", 5, *IMPORTS["helpers.py"])
    before = set(sys.modules)
    for _ in range(3):
        agent = make_agent(name)
    assert len(set(sys.modules) - before) == 3  # the package, the agent and its helper
    del agent
    gc.collect()
    assert set(sys.modules) == before
    path = tmp_path / "agent.py"
    path.write_text(path.read_text() + "\nready = Mine()\n")
    for _ in range(3):
        make_agent(f"{path}:ready")
    assert len(set(sys.modules) - before) == 3
