"""Guarantees for every test: no outside network, no keys, and in CI no silent skips."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from loopback_only import forbid_outside_network

import tea.platform
import tea.registry.kind_registry
from tea.source.cache import SourceCache

settings.register_profile("tea", parent=settings.get_profile("default"), deadline=None)
if "CI" not in os.environ:
    settings.load_profile("tea")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # what a script starts in its background ignores it, children too
    signal.signal(signal.SIGINT, signal.default_int_handler)

_LINE = "report"


class SharedCache(SourceCache):
    """Hold all tests' checked and compiled sources, a function of the texts alone.

    Args:
        folder: Where it lies, whatever a platform says.
    """

    folder: Path

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(self.folder if folder is not None else None)


@pytest.fixture(autouse=True, scope="session")
def no_outside_network() -> Iterator[None]:
    """Refuse connections, datagrams and name lookups beyond loopback, in started processes too."""
    forbid_outside_network()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent / "tests" / "guard"), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all processes of these tests, for findings about this machine, and about texts alone."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(autouse=True, scope="session")
def no_operator_settings(machine: Path) -> Iterator[None]:
    """Hide the operator's home, keys, proxies and cache, to show tests a fresh machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(machine / "cache"))
        for name in os.environ:
            if name.startswith("TEA_") or name.endswith("_API_KEY") or name.lower().endswith("_proxy"):
                patch.delenv(name)
        yield


@pytest.fixture(autouse=True, scope="session")
def sources_compiled_once(machine: Path) -> Iterator[None]:
    """Let all platforms of these tests share findings about a source, as those of one operator do."""
    SharedCache.folder = machine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tea.platform, "SourceCache", SharedCache)
        patch.setattr(tea.registry.kind_registry, "SourceCache", SharedCache)
        yield


@pytest.fixture(autouse=True, scope="session")
def installed_packages_asked_once() -> Iterator[None]:
    """Look once for components of installed packages: no test installs one for its own process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tea.platform, "entry_point_roots", cache(tea.platform.entry_point_roots))
        yield


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Add a line to the output after the tests; it goes with the test's own report, from any process."""
    return partial(record_property, _LINE)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the lines of the `report` fixture."""
    for ended in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for line in (value for name, value in ended.user_properties if name == _LINE):
            terminalreporter.write_line(line)
    if _skips_that_count(config):
        terminalreporter.write_line("Tests were skipped, and in CI a skipped test is a failure.", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail in CI after a skipped test."""
    if _skips_that_count(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _skips_that_count(config: pytest.Config) -> bool:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return os.environ.get("CI") == "true" and reporter is not None and bool(reporter.stats.get("skipped"))
