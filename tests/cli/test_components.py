"""Commands about components: their life from registration to rollback."""

import json
from pathlib import Path

import pytest

from .conftest import PROMPT, SHOUT, Tea

HALT = '''
from tea import tool


class Stop(BaseException):
    """Neither an exception nor a cancellation."""


@tool(effects="reads")
async def halt() -> str:
    """Halt."""
    raise ERROR
'''


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
    for command in ("show", "history", "rollback"):
        tea(command, "shout").refused(2, "tool:shout was unregistered", "`tea register`")


def test_registering_what_is_there_says_that_nothing_changed(tea: Tea) -> None:
    file = tea.write("shout.py", SHOUT)
    tea("register", file)
    before = tea.files()
    assert tea("register", file).out == "tool:shout@1.0.0 is unchanged\n"
    assert tea("update", "shout", file).out == "tool:shout@1.0.0 is unchanged\n"
    assert tea.files() == before
    data = tea("register", file, "--json").data
    assert (data["version"], data["current"], data["unchanged"]) == ("1.0.0", "1.0.0", True)


def test_registering_an_earlier_version_leaves_current_alone_and_says_so_in_one_line(tea: Tea) -> None:
    file, later = tea.write("shout.py", SHOUT), tea.write("later.py", SHOUT.replace("louder", "loudly"))
    tea("register", file)
    tea("register", later)
    tea("rollback", "shout")
    before = tea.files()
    told = tea("register", later)
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "tool:shout@1.0.1 is unchanged; tool:shout@1.0.0 stays current: `tea restore tool:shout@1.0.1` changes that\n"
    )
    assert tea.files() == before
    data = tea("register", later, "--json").data
    assert (data["version"], data["current"], data["unchanged"]) == ("1.0.1", "1.0.0", True)
    assert tea("update", "shout", later).out == "updated tool:shout@1.0.1\n"
    assert tea("register", later).out == "tool:shout@1.0.1 is unchanged\n"
    assert tea("register", file, "--version", "3.0.0").out == "registered tool:shout@3.0.0\n"
    assert tea("update", "shout", file, "--version", "3.0.1").out == "updated tool:shout@3.0.1\n"


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
        (["rollback", "shout"], ["another version before"]),
        (["unregister", "nothing_here"], ["nothing_here"]),
        (["history", "../../etc/passwd"], ["name"]),
        (["unregister", "shout@1.0.0"], ["not its version '@1.0.0'", "leave it out"]),
        (["rollback", "tool:shout@1.0.0"], ["not its version"]),
        (["update", "shout@1.0.0", "shout.py"], ["not its version"]),
        (["save", "all.json", "shout@1.0.0"], ["not its version"]),
        (["archive", "counter#by"], ["not its operation '#by'"]),
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


def test_copies_aliases_and_states_from_the_line(tea: Tea) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    assert tea("copy", "shout", "yell", "--reason", "for others").out == "copied to tool:yell@1.0.0\n"
    assert tea("call", "yell", "text=hi").out == "HI\n"
    assert tea("copy", "shout", "--json").data["version"] == "1.0.1"
    assert "* " in tea("history", "shout").out.splitlines()[0]
    assert tea("alias", "shout@1.0.1", "next").out == "tool:shout@next is 1.0.1\n"
    assert "next" in tea("history", "shout").out
    assert tea("call", "shout@next", "text=hi").out == "HI\n"
    assert tea("alias", "shout", "next", "--remove", "--json").data["aliases"] == {}
    assert tea("deprecate", "yell", "--reason", "too loud").out == "tool:yell@1.0.0 is deprecated\n"
    assert "yell" not in tea("list", "tools").out
    assert "[deprecated]" in tea("list", "tools", "--all").out
    assert tea("call", "yell", "text=hi").out == "HI\n"
    assert tea("archive", "yell", "--json").data["state"] == "archived"
    tea("call", "yell", "text=hi").refused(2, "tool:yell@1.0.0 is archived", "tea history")
    assert tea("activate", "yell").code == 0
    assert tea("call", "yell", "text=hi").code == 0


def test_text_is_shown_and_written_in_pieces(tea: Tea) -> None:
    trained = PROMPT.replace("variables:", "trainable: [system]\nvariables:")
    tea("register", tea.write("greeting.md", trained))
    shown = tea("vars", "greeting")
    assert "system (text)\n  You greet." in shown.out
    assert "message (text, fixed)" in shown.out
    assert [one["name"] for one in tea("vars", "greeting", "--json").data["variables"]] == ["system", "message"]
    assert tea("vars", "greeting", "--set", "system=You bow.", "--reason", "polite").out == (
        "updated prompt:greeting@1.0.1\n"
    )
    tea.write("words.txt", "You wave.")
    assert tea("vars", "greeting", "--set", "system=@words.txt", "--json").data["version"] == "1.0.2"
    assert "You wave." in tea("show", "greeting", "--source").out
    for wrong, words in (
        ("message=Hi.", ["message"]),
        ("colour=red", ["colour", "system"]),
        ("system", ["NAME=TEXT"]),
        ("system=@missing.txt", ["missing.txt"]),
    ):
        tea("vars", "greeting", "--set", wrong).refused(2, *words)
    tea("vars", "greeting", "--set", "system=a", "--set", "system=b").refused(2, "twice")


@pytest.mark.parametrize(("error", "code"), [("Stop('now')", 1), ("KeyboardInterrupt", 130)])
def test_whatever_a_tool_raises_ends_in_one_line(tea: Tea, error: str, code: int) -> None:
    tea("register", tea.write("halt.py", HALT.replace("ERROR", error)))
    tea("call", "halt").refused(code)


def test_a_purge_is_asked_for_twice(tea: Tea) -> None:
    file = tea.write("shout.py", SHOUT)
    tea("register", file)
    tea("register", file, "--version", "1.0.1")
    tea("purge", "shout@1.0.0").refused(2, "--yes")
    tea("purge", "shout", "--yes").refused(2, "version")
    tea("purge", "shout@1.0.1", "--yes").refused(2, "current")
    assert tea("purge", "shout@1.0.0", "--yes", "--reason", "secret").out == "purged tool:shout@1.0.0\n"
    tea("show", "shout@1.0.0").refused(2, "1.0.0", "1.0.1")
    assert tea("doctor").code == 0
    tea("unregister", "shout")
    tea("show", "shout").refused(2, "shout")
    assert tea("purge", "shout", "--yes", "--json").data["purged"] == ["tool:shout@1.0.1"]
    assert tea("doctor").code == 0


def test_a_purge_names_the_aliases_that_go_with_it(tea: Tea) -> None:
    file = tea.write("shout.py", SHOUT)
    for version, tags in (("1.0.0", ("prod", "best")), ("1.0.1", ()), ("1.0.2", ("new",)), ("1.0.3", ())):
        tea("register", file, "--version", version)
        for tag in tags:
            tea("alias", f"shout@{version}", tag)
    told = "purged tool:shout@1.0.0; gone with it: tool:shout@best, tool:shout@prod\n"
    assert tea("purge", "shout@prod", "--yes").out == told
    assert tea("purge", "shout@1.0.1", "--yes").out == "purged tool:shout@1.0.1\n"
    data = tea("purge", "shout@1.0.2", "--yes", "--json").data
    assert (data["purged"], data["aliases"]) == (["tool:shout@1.0.2"], ["new"])


def test_what_was_saved_is_loaded_elsewhere_and_waits_for_trust(tea: Tea, tmp_path: Path) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    tea("register", tea.write("greeting.md", PROMPT))
    tea("register", tea.write("small.json", '{"kind": "model", "name": "small", "provider": "openai_chat"}'))
    assert tea("save", "all.json").out == "saved 3 components to all.json\n"
    assert tea("save", "some.json", "prompts", "shout", "--json").data["components"] == [
        "prompt:greeting",
        "tool:shout",
    ]
    (tmp_path / "other").mkdir()
    (tmp_path / "nobody").mkdir()
    other = Tea(tmp_path / "other", tmp_path / "nobody", tea.warm)
    loaded = other("load", tea.folder / "all.json")
    assert loaded.out == "loaded 3 versions\n"
    assert "quarantined" in loaded.err
    assert other("load", tea.folder / "some.json", "--json").data["added"] == []
    assert "[sandboxed: bubblewrap]" in other("list", "tools").out
    assert "sandboxed (bubblewrap)" in other("show", "shout").out
    assert other("call", "shout", "text=hi").out == "HI\n"
    other("trust", "shout").refused(6, "tea show tool:shout@1.0.0 --source", "tea trust tool:shout@sha256:")
    other("show", "shout", "--source")
    assert other("trust", "shout").out == "trusted tool:shout@1.0.0\n"
    assert other("call", "shout", "text=hi").out == "HI\n"
    assert other("list", "models", "--json").data["components"][0]["name"] == "small"
    before = other.files()
    half = tea.write("half.json", (tea.folder / "all.json").read_bytes()[:-200])
    other("load", half).refused(2, "half.json")
    other("load", tea.folder / "none.json").refused(2, "none.json")
    other("load", tea.write("small2.json", "{}")).refused(2, "components")
    assert other.files() == before
    tea("save", "more.json", "planets").refused(2, "planets")
    tea("save", ".").refused(2, "file")
    assert not (tea.folder / "more.json").exists()


def test_what_was_purged_stays_so_when_it_is_loaded_and_can_be_registered_anew(tea: Tea, tmp_path: Path) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    tea("save", "one.json", "shout")
    tea("register", tea.write("shout.py", SHOUT.replace("louder", "loudly")))
    tea("save", "two.json", "shout")
    tea("unregister", "shout")
    tea("purge", "shout@1.0.0", "--yes")
    loaded = tea("load", "one.json")
    assert (loaded.code, loaded.out) == (0, "loaded 0 versions; 1 stays purged\n")
    assert loaded.err.startswith(
        "tool:shout@1.0.0 was purged and stays so: to have it again, `tea register` its source"
    )
    assert loaded.err.endswith("`tea show tool:shout@1.0.0 --source`\n")
    data = tea("load", "one.json", "--json").data
    assert (data["purged"], data["skipped"]) == (["tool:shout@1.0.0"], [])
    assert data["unregistered"] == ["tool:shout"]
    assert tea("load", "two.json").out == "loaded 0 versions; 1 was here already; 1 stays purged\n"
    elsewhere = tmp_path / "elsewhere"
    tea("load", "one.json", "--home", elsewhere)
    source = tea("show", "tool:shout@1.0.0", "--source", "--home", elsewhere).out
    assert tea("register", tea.write("again.py", source)).out == "registered tool:shout@1.0.2\n"
    assert "tool:shout" in tea("list", "tools").out


def test_what_was_saved_unregistered_is_said_to_stay_so(tea: Tea, tmp_path: Path) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    tea("save", "before.json", "shout")
    tea("unregister", "shout")
    tea("save", "after.json", "tool:shout")
    home = ("--home", tmp_path / "elsewhere")
    loaded = tea("load", "after.json", *home)
    assert loaded.out == "loaded 1 version\n"
    (line,) = loaded.err.splitlines()
    assert line.startswith("tool:shout stays unregistered")
    tea("show", "tool:shout", *home).refused(2, "shout")
    assert tea("load", "after.json", "--json", *home).data["unregistered"] == ["tool:shout"]
    loaded = tea("load", "before.json", *home)
    assert (loaded.out, loaded.err) == ("loaded 0 versions; 1 was here already\n", "")
    assert "tool:shout" in tea("list", "tools", *home).out


def test_what_stays_as_it_is_shows_beside_it_what_was_loaded(tea: Tea, tmp_path: Path) -> None:
    home, file = ("--home", tmp_path / "elsewhere"), tea.write("shout.py", SHOUT)
    tea("register", file)
    tea("save", "one.json", "shout")
    tea("load", "one.json", *home)
    tea("alias", "shout", "mine", *home)
    tea("register", file, "--version", "1.0.1")
    tea("save", "two.json", "shout")
    assert "tool:shout stays as it is here: `tea history tool:shout`" in tea("load", "two.json", *home).err
    assert "1.0.1" in tea("history", "tool:shout", *home).out


def test_documents_are_components_too(tea: Tea) -> None:
    source = '{"name": "answer", "description": "What it was.", "task": "Count.", "content": 42}'
    file = tea.write("answer.json", source)
    tea("register", file).refused(2, "--kind")
    assert tea("register", file, "--kind", "solution").out == "registered solution:answer@1.0.0\n"
    file.write_text(source.replace("42", "43"))
    assert tea("update", "answer", file).out == "updated solution:answer@1.0.1\n"
    assert "43" in tea("show", "solution:answer", "--source").out
    assert "What it was.\n\nTask: Count.\nComes from: a person\nAnswer: 43\n\nref: " in tea("show", "answer").out
    assert tea("rollback", "answer").code == 0
    assert tea("list", "solutions", "--json").data["components"][0]["version"] == "1.0.0"
    for wrong, word in (
        ("{", "line 1"),
        ("[]", "object"),
        (source.replace("Count.", ""), "task"),
        (source.replace('"content": 42', '"contents": 42'), "content"),
        (source.replace("42", "NaN"), "NaN"),
        (source.replace('"answer"', '"../x"'), "name"),
        (source.replace('"task"', '"kind": "model", "task"'), "model"),
    ):
        tea("register", tea.write("wrong.json", wrong), "--kind", "solution").refused(2, word)
    key = '{"name": "m", "provider": "openai_chat", "key_env": "sk-123 456"}'
    tea("register", tea.write("m.json", key), "--kind", "model").refused(2, "key_env")
    memory = '{"kind": "memory", "name": "long", "scope": "agent", "limit": 0}'
    tea("register", tea.write("long.json", memory)).refused(2, "limit")
    assert tea("register", tea.write("long.json", memory.replace(": 0", ": 9"))).code == 0
    assert "memory:long" in tea("list", "memories").out
    shown = tea("show", "memory:long").out
    assert shown.startswith("## long (1.0.0)\n\nSees: the events of the session that the agent recorded itself\n")
    assert "state:" not in shown
    assert tea("archive", "memory:long").code == 0
    assert "\nstate: archived\n" in tea("show", "memory:long").out
    assert tea("show", "memory:long", "--json").data["state"] == "archived"


def test_a_damaged_model_is_reported_and_keeps_nothing_else_from_working(tea: Tea) -> None:
    tea("register", tea.write("small.json", '{"kind": "model", "name": "small", "provider": "openai_chat"}'))
    version = tea.folder / "registry" / "models" / "small" / "versions" / "1.0.0.json"
    version.write_text(version.read_text().replace("openai_chat", "elsewhere"))
    assert tea("list", "tools").code == 0
    assert "small" in tea("doctor").out


DECLARED = '''
from dataclasses import dataclass

from tea import Agent


@dataclass
class City:
    """A city."""

    name: str


def people(city: str) -> int:
    """Tell how many people live in a city.

    Args:
        city: Its name.
    """
    return len(city)


helper = Agent(name="helper", instructions="Help.")
capitals = Agent(name="capitals", instructions="Answer.", tools=[people], agents=[helper], output=City)
open("done", "w").write("a call by itself is no declaration")
'''


def test_a_file_with_a_declared_agent_is_registered_with_its_parts(tea: Tea) -> None:
    (tea.folder / "capitals.py").write_text(DECLARED)
    assert tea("register", "capitals.py").out == "registered agent:capitals@1.0.0\n"
    assert not (tea.folder / "done").exists()
    for name in ("agent:helper", "tool:people", "prompt:capitals"):
        assert tea("show", name).code == 0
    assert tea("call", "people", "city=Lima").out == "4\n"
    assert tea("register", "capitals.py").out == "agent:capitals@1.0.0 is unchanged\n"
    assert tea("update", "capitals", "capitals.py").out == "agent:capitals@1.0.0 is unchanged\n"
    (tea.folder / "capitals.py").write_text(
        DECLARED.replace('instructions="Answer."', 'instructions="Answer briefly."')
    )
    assert tea("update", "capitals", "capitals.py").out == "updated agent:capitals@1.0.1\n"
    refused = tea("update", "helper", "capitals.py")
    assert (refused.code, "capitals" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("done = open('done', 'w').write('at once')", "does work at the top level"),
        ("import this", "does work when it is imported"),
        ("for one in [open('done', 'w')]: pass", "does work at the top level"),
        ("two = Agent(name='two', instructions=open('done', 'w').name)", "does work at the top level"),
        ("class Two(open('done', 'w').__class__): pass", "a base class is not a class's name"),
        ("two = '\u202e'", "U+202E"),
    ],
)
def test_a_file_with_a_declared_agent_executes_nothing_that_components_may_not(tea: Tea, line: str, words: str) -> None:
    lines = ("from tea import Agent", "import os", "first = os.mkdir('made')" if "202" in words else "", line)
    (tea.folder / "odd.py").write_text("\n".join((*lines, "one = Agent(name='one', instructions='A.')")))
    tea("register", "odd.py").refused(2, words)
    assert not (tea.folder / "done").exists()
    assert not (tea.folder / "made").exists()


def test_what_a_file_does_once_it_is_started_is_no_part_of_its_agent(tea: Tea) -> None:
    started = "if __name__ == '__main__':\n    open('done', 'w').write('started')\n"
    (tea.folder / "one.py").write_text(f"import tea\none = tea.Agent(name='one', instructions='A.')\n{started}")
    assert tea("register", "one.py").out == "registered agent:one@1.0.0\n"
    assert not (tea.folder / "done").exists()


def test_a_class_of_its_own_that_is_called_like_an_agent_declares_none(tea: Tea) -> None:
    source = "class Agent:\n    pass\none = Agent()\ndone = open('done', 'w').write('at once')\n"
    (tea.folder / "odd.py").write_text(source)
    tea("register", "odd.py").refused(2, "")
    assert not (tea.folder / "done").exists()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("one = Agent(name='one', instructions='A.')", "two = Agent(name='two', instructions='B.')"), "one, two"),
        (("one = Agent(name='one', instructions=3)",), "`instructions` is 3, not text"),
        (("import nowhere_at_all", "one = Agent(name='one', instructions='A.')"), "No module named"),
    ],
)
def test_a_file_whose_agent_is_unclear_is_refused_in_one_line(tea: Tea, lines: tuple[str, ...], words: str) -> None:
    (tea.folder / "odd.py").write_text("\n".join(("from tea import Agent", *lines)))
    tea("register", "odd.py").refused(2, words)
