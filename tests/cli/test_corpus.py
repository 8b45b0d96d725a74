"""Test `tea corpus`, and searches of the index."""

import json

from .conftest import Tea


def test_a_folder_is_added_searched_updated_and_removed(tea: Tea) -> None:
    tea.write("tea.toml", "")
    (tea.folder / "docs").mkdir()
    tea.write("docs/tower.md", "# Tower\n\nThe lamp of the tower burns paraffin.\n")
    empty = tea("corpus")
    assert (empty.code, empty.out) == (0, "")
    assert "tea corpus add" in empty.err
    added = tea("corpus", "add", "docs")
    assert (added.code, "1 added, 0 changed" in added.out) == (0, True)
    assert "1 documents  1 passages" in tea("corpus", "ls").out
    found = tea("corpus", "search", "what", "burns", "--json").data["matches"]
    assert (found[0]["line"], found[0]["heading"], found[0]["url"][:7]) == (1, "Tower", "file://")
    called = tea("call", "web_search", "--args", json.dumps({"queries": ["lamp of the tower"], "full": True}), "--json")
    assert (called.code, called.data["value"]["results"][0]["engines"]) == (0, ["local"])
    tea.write("docs/ship.txt", "Ships pass.")
    assert "1 added, 0 changed, 0 removed, 1 the same" in tea("corpus", "update").out
    assert tea("corpus", "rm", "docs").out.startswith("removed file://")
    tea("corpus", "rm", "docs").refused(2, "not in the corpus")
    tea("corpus", "add", "nowhere").refused(2, "There is no file or folder 'nowhere'")
    tea("call", "web_search", "--args", json.dumps({"queries": ["x"]})).refused(2, "No search engine is configured")


def test_settings_of_searching_are_checked(tea: Tea) -> None:
    for text, words in (
        ("[search]\nsecond = 1", "did you mean 'seconds'"),
        ("[search]\nprofile = 'fast'", "search.profile"),
        ("[search]\nengines = ['bing']", "search.bing in tea.toml: it is not an engine"),
        ("[search.brave]\nurl = 'ftp://x'", "search.brave.url"),
        ("[search.brave]\ncx = 'x'", "search.brave.cx"),
        ("[search]\nresults = 50", "from 1 to 20"),
        ("[search.brve]\ntier = 1", "did you mean 'brave'"),
    ):
        tea.write("tea.toml", text)
        tea("list").refused(2, words)
