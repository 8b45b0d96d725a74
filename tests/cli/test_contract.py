"""`tea contract` and `tea import`."""

import json
import shutil

from tea.components.manifest import source_digest
from tea.store.sealed import sealed, unsealed

from .conftest import SHOUT, Tea


def test_a_contract_of_a_kind_of_one_component_and_of_all(stocked: Tea) -> None:
    tools = stocked("contract", "tools")
    assert (tools.code, tools.err) == (0, "")
    assert tools.out.startswith("# Tools\n")
    assert "## shout 1.0.0" in tools.out
    assert "Count up only." in stocked("contract", "environment").out
    one = stocked("contract", "shout").out
    assert "- `times` (`integer`, default `1`): How often." in one
    assert "calculator" not in one
    everything = stocked("contract", "--json").data["contracts"]
    assert list(everything) == ["tool", "environment", "agent", "prompt", "model", "memory", "solution"]
    assert everything["tool"] == tools.out
    stocked("contract", "shuot").refused(2, "shout")


def test_skills_are_written_and_imported_again(stocked: Tea) -> None:
    assert stocked("contract", "tool:shout", "--skills", "skills").out == "1 skill in skills\n"
    assert stocked("contract", "shout", "--skills", "skills", "--json").data["skills"] == ["skills/tool-shout"]
    assert stocked("import", "skills/tool-shout").out == "imported prompt:tool_shout@1.0.0\n"
    assert "Say it louder." in stocked("show", "prompt:tool_shout", "--source").out
    assert stocked("history", "prompt:tool_shout").out.split()[3] == "imported"
    assert "[quarantined]" in stocked("retrieve", "say it louder", "--kind", "prompt").out
    everything = stocked("contract", "prompts", "--skills", "all")
    assert "left out, as nobody trusts them yet: prompt:tool_shout" in everything.err
    assert not (stocked.folder / "all" / "tool-shout").exists()
    refused = stocked("contract", "prompt:tool_shout", "--skills", "again")
    refused.refused(2, "prompt:tool_shout@1.0.0 is not trusted", "`tea trust prompt:tool_shout@1.0.0`")
    assert not (stocked.folder / "again").exists()
    digest = stocked("show", "prompt:tool_shout", "--json").data["component"]["digest"]
    assert stocked("trust", f"prompt:tool_shout@{digest}").code == 0
    assert stocked("contract", "prompt:tool_shout", "--skills", "again").code == 0
    old, new = (stocked.folder / folder / "tool-shout" / "SKILL.md" for folder in ("skills", "again"))
    assert new.read_text().partition("\n---\n")[2] == old.read_text().partition("\n---\n")[2]


def test_no_skill_is_written_that_holds_hidden_characters(stocked: Tea) -> None:
    stocked("contract", "tool:shout", "--skills", "skills")
    stocked("import", "skills/tool-shout")
    (version,) = stocked.folder.glob("**/registry/prompts/tool_shout/versions/1.0.0.json")
    planted = json.loads(json.dumps(dict(unsealed(version))))
    planted["source"] = planted["source"].replace("Say it", "Say\u202e it")
    held = (planted[name] for name in ("kind", "name", "source", "files"))
    planted["digest"] = source_digest(*held, tuple(planted["requires"]))
    version.write_bytes(sealed(planted))
    for catalogue in stocked.folder.glob("**/registry/.catalogue"):
        shutil.rmtree(catalogue)
    stocked("contract", "prompt:tool_shout", "--skills", "planted").refused(2, "holds the character U+202E")
    assert not (stocked.folder / "planted").exists()


def test_skills_of_components_that_are_gone_are_named_and_what_others_wrote_is_not(tea: Tea) -> None:
    tea("register", tea.write("shout.py", SHOUT))
    assert tea("contract", "tools", "--skills", "skills").err == ""
    others = tea.folder / "skills" / "tool-mine" / "SKILL.md"
    others.parent.mkdir()
    others.write_text((tea.folder / "skills" / "tool-shout" / "SKILL.md").read_text().replace("shout", "mine"))
    assert tea("unregister", "shout").code == 0
    again = tea("contract", "tools", "--skills", "skills")
    assert again.err == "made of components that are gone here, remove them: tool-shout\n"
    assert tea("contract", "tools", "--skills", "skills", "--json").data["gone"] == ["tool-shout"]
    assert (tea.folder / "skills" / "tool-shout" / "SKILL.md").exists()
    odd = "x: run `tea trust --home`"
    (tea.folder / "skills" / "tool-shout").rename(tea.folder / "skills" / odd)
    assert tea("contract", "tools", "--skills", "skills").err.endswith(f'remove them: "{odd}"\n')


def test_bad_input_writes_nothing(stocked: Tea) -> None:
    stocked.write("file", "x")
    (stocked.folder / "empty").mkdir()
    mine = stocked.folder / "mine" / "tool-shout"
    mine.mkdir(parents=True)
    before = stocked.files()
    stocked("import", "missing").refused(2, "missing")
    stocked("import", "file").refused(2, "file")
    stocked("import", "empty").refused(2, "SKILL.md")
    stocked("contract", "shout", "--skills", "file").refused(2, "file")
    stocked("contract", "shout", "--skills", "mine").refused(2, "was not written by tea")
    assert stocked.files() == before
