"""Commands about components: their life from registration to rollback."""

import json

import pytest

from .conftest import SHOUT, Tea


def test_a_component_lives_from_registration_to_rollback(tea: Tea) -> None:
    file = tea.write("shout.py", SHOUT)
    first = tea("register", file, "--reason", "louder", "--json")
    assert first.data["ref"] == "tool:shout@1.0.0"
    file.write_text(SHOUT.replace("upper()", "upper() + '!'"))
    assert tea("update", "shout", file, "--reason", "with a mark").out == "updated tool:shout@1.0.1\n"
    assert tea("call", "shout", "text=hi").out == "HI!\n"
    history = tea("history", "shout", "-v")
    assert "louder" in history.out
    assert "* " in history.out
    assert history.code == 0
    assert [one["version"] for one in tea("history", "shout", "--json").data["versions"]] == ["1.0.0", "1.0.1"]
    different = tea("diff", "shout@1.0.0", "1.0.1")
    assert "patch" in different.out
    assert "+    return" in different.out
    assert "\x1b" not in different.out
    assert tea("restore", "tool:shout@1.0.0").out == "current is tool:shout@1.0.0\n"
    assert tea("call", "shout", "text=hi").out == "HI\n"
    assert tea("rollback", "shout", "--json").data["version"] == "1.0.1"
    assert tea("unregister", "shout").out == "unregistered tool:shout\n"
    tea("show", "shout").refused(2, "shout")


def test_what_is_shown_of_a_component(stocked: Tea) -> None:
    shown = stocked("show", "shout")
    assert shown.code == 0
    assert "Say it louder." in shown.out
    assert "ref: tool:shout@1.0.0" in shown.out
    assert "async def shout" in stocked("show", "tool:shout@1.0.0", "--source").out
    for style, key in (("openai", "function"), ("anthropic", "input_schema")):
        (schema,) = json.loads(stocked("show", "shout", "--schema", style).out)
        assert key in schema
    assert stocked("show", "counter", "--json").data["component"]["rules"] == "Count up only."
    stocked("show", "shout", "--schema", "french").refused(2, "french")


def test_listing_by_kind_in_words_and_in_json(stocked: Tea) -> None:
    assert "tool:shout" in stocked("list").out
    prompts = stocked("list", "prompts", "--json").data["components"]
    assert {one["kind"] for one in prompts} == {"prompt"}
    assert "greeting" in {one["name"] for one in prompts}
    stocked("list", "planets").refused(2, "planets", "tool")


def test_values_are_read_as_the_parameter_wants_them(stocked: Tea) -> None:
    assert stocked("call", "shout", "text=12", "times=2").out == "12 12\n"
    assert stocked("call", "tool:shout#call", "text=a", 'marks=["!", "?"]', "--json").data["value"] == "A!?"
    assert stocked("call", "shout", "text=a", "by=12").out == "A (12)\n"
    assert stocked("call", "shout", "--args", '{"text": "b"}').out == "B\n"
    assert stocked("call", "environment:counter#add", "by=3").out == "3\n"
    assert json.loads(stocked("state", "counter").out) == {"number": 0}


def test_a_call_with_bad_arguments_says_so_and_exits_2(stocked: Tea) -> None:
    stocked("call", "shout", "text=a", "times=many").refused(2, "times")
    wrong = stocked("call", "shout", "text=a", "times=many", "--json")
    assert (wrong.code, wrong.data["error"]["code"], wrong.data["ok"]) == (2, "BadInput", False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["call", "shout", "text"], ["NAME=VALUE"]),
        (["call", "shout", "text=a", "text=b"], ["twice"]),
        (["call", "shout", "--args", "{"], ["--args"]),
        (["call", "shout", "--args", "[1]"], ["object"]),
        (["call", "shout", "--args", '{"text": "a", "text": "b"}'], ["twice"]),
        (["call", "counter", "by=1"], ["operation"]),
        (["call", "counter#fly"], ["fly"]),
        (["call", "shuot", "text=a"], ["did you mean", "shout"]),
        (["call", "prompt:greeting"], ["prompt"]),
        (["state", "tool:shout"], ["tool"]),
        (["show", "model:x"], ["model"]),
        (["show", "Tool:shout"], ["kind"]),
        (["show", "planner"], ["agent:planner", "prompt:planner"]),
        (["show", "shout@9.9.9"], ["9.9.9", "1.0.0"]),
        (["diff", "shout@1.0.0", "agent:slow"], ["compared"]),
        (["restore", "shout"], ["version"]),
        (["rollback", "shout"], ["earlier"]),
        (["unregister", "nothing_here"], ["nothing_here"]),
        (["history", "../../etc/passwd"], ["name"]),
        (["update", "counter", "shout.py"], ["shout"]),
        (["register", "missing.py"], ["missing.py"]),
        (["register", "."], ["file"]),
        (["register", "shout.py", "--kind", "planet"], ["planet"]),
        (["register", "shout.py", "--kind", "agent"], ["tool"]),
        (["register", "shout.py", "--version", "01.0"], ["01.0"]),
        (["register", "shout.py", "--version", "1.0.0"], ["1.0.0"]),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(stocked: Tea, arguments: list[str], words: list[str]) -> None:
    before = stocked.files()
    stocked(*arguments).refused(2, *words)
    assert stocked.files() == before


@pytest.mark.parametrize(
    "source",
    [
        b"\xff\xfe\x00binary",
        b"def broken(:\n",
        b"x = 1\n",
        b"import os\nos.remove('x')\n" + SHOUT.encode(),
        b"#" * (2 * 2**20),
        b"a = " + b"(" * 5000 + b")" * 5000,
        b"# \x00\n",
    ],
    ids=["binary", "syntax", "nothing", "executes", "huge", "deep", "NUL"],
)
def test_hostile_sources_are_refused_unread_and_unexecuted(tea: Tea, source: bytes) -> None:
    tea("register", tea.write("hostile.py", source)).refused(2)
    assert tea.files() == {"hostile.py"}


def test_reading_commands_create_nothing(tea: Tea) -> None:
    for arguments in (["list"], ["show", "done"], ["runs"], ["doctor"], ["history", "done"]):
        assert tea(*arguments).code == 0, arguments
    assert tea.files() == set()


def test_a_damaged_version_is_named_by_the_doctor(tea: Tea) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    version = tea.folder / "registry" / "tools" / "shout" / "versions" / "1.0.0.json"
    version.write_text(version.read_text().replace("Say it louder", "Say it softer"))
    health = tea("doctor")
    assert health.code == 2
    assert "1.0.0.json" in health.out
    assert tea("doctor", "--json").data["damaged"]
    tea("call", "shout", "text=a").refused(2, "1.0.0.json")


def test_a_home_is_made_once_and_found_from_below(tea: Tea) -> None:
    assert set(tea("init", "--json").data["created"]) == {"tea.toml", "registry/", "traces/"}
    settings = tea.folder / "tea.toml"
    settings.write_text('model = "offline"\n')
    assert tea("init").code == 0
    assert settings.read_text() == 'model = "offline"\n'
    below = Tea(tea.folder / "below", tea.state, tea.warm)
    below.folder.mkdir()
    assert below("doctor", "--json").data["home"] == str(tea.folder)
    assert below("doctor", "--json", TEA_HOME=str(below.folder)).data["home"] == str(below.folder)
    assert below("doctor", "--json", "--home", tea.folder, TEA_HOME="elsewhere").data["home"] == str(tea.folder)
    tea("list", "--home", settings).refused(2, "tea.toml")
    settings.write_text("colour = 1\n")
    tea("list").refused(2, "colour")
