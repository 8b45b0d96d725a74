"""The application: every command under its name, and the way in."""

import sys
from collections.abc import Mapping
from typing import Annotated, NoReturn

import typer

from tea.cli.alias import alias
from tea.cli.call import call
from tea.cli.command import Work, command
from tea.cli.contract import contract
from tea.cli.copy import copy
from tea.cli.diff import diff
from tea.cli.doctor import doctor
from tea.cli.export import export
from tea.cli.failure import report
from tea.cli.family import SELF, Family
from tea.cli.fork import fork
from tea.cli.gc import gc
from tea.cli.history import history
from tea.cli.import_skill import import_component
from tea.cli.inbox import inbox
from tea.cli.init import init
from tea.cli.list import list_components
from tea.cli.load import load
from tea.cli.lock import lock
from tea.cli.mark import activate, archive, deprecate
from tea.cli.models import models
from tea.cli.purge import purge
from tea.cli.register import register
from tea.cli.replay import replay
from tea.cli.restore import restore
from tea.cli.resume import resume
from tea.cli.retrieve import retrieve
from tea.cli.rollback import rollback
from tea.cli.run import run
from tea.cli.runs import runs
from tea.cli.save import save
from tea.cli.show import show_component
from tea.cli.state import state
from tea.cli.tell import tell
from tea.cli.terminal import prepare, say
from tea.cli.trace import trace
from tea.cli.trace_diff import trace_diff
from tea.cli.transform import transform
from tea.cli.trust import trust
from tea.cli.unregister import unregister
from tea.cli.update import update
from tea.cli.vars import variables

_COMMANDS = {
    "run": run,
    "resume": resume,
    "replay": replay,
    "fork": fork,
    "lock": lock,
    "runs": runs,
    "inbox": inbox,
    "tell": tell,
    "trace": trace,
    "list": list_components,
    "show": show_component,
    "retrieve": retrieve,
    "contract": contract,
    "call": call,
    "state": state,
    "register": register,
    "import": import_component,
    "update": update,
    "unregister": unregister,
    "history": history,
    "diff": diff,
    "transform": transform,
    "restore": restore,
    "rollback": rollback,
    "copy": copy,
    "vars": variables,
    "alias": alias,
    "deprecate": deprecate,
    "archive": archive,
    "activate": activate,
    "trust": trust,
    "save": save,
    "load": load,
    "purge": purge,
    "models": models,
    "init": init,
    "doctor": doctor,
}
_FURTHER = {"trace": {"diff": trace_diff, "export": export}, "runs": {"gc": gc}}


def main() -> NoReturn:
    """Carry out the command line of this process, and exit with its code."""
    arguments = sys.argv[1:] or ["--help"]
    try:
        prepare()
        code = typer.main.get_command(application())(arguments, prog_name="tea", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        code = report(error, as_json="--json" in _options(arguments), verbose=_options(arguments).count("-vv") * 2)
    sys.exit(code)


def application() -> typer.Typer:
    """Return the application with every command."""
    app = typer.Typer(
        name="tea",
        help="Run agents whose every part is a versioned component, and whose every run is a journal.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    for name, work in _COMMANDS.items():
        if name in _FURTHER:
            app.add_typer(_family(work, _FURTHER[name]), name=name, help=work.__doc__)
        else:
            app.command(name)(command(work))
    return app


def _family(work: Work, further: Mapping[str, Work]) -> typer.Typer:
    family = typer.Typer(cls=Family, rich_markup_mode=None)
    for name, one in {SELF: work, **further}.items():
        family.command(name)(command(one))
    return family


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        say(f"tea {metadata.version('tea-protocol')}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Run agents whose every part is a versioned component, and whose every run is a journal."""


def _options(arguments: list[str]) -> list[str]:
    """Return the arguments before a bare `--`, after which nothing is an option."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
