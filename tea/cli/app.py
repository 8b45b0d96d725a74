"""The application: every command under its name, and the entry point."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from tea.cli.command import Work, command
from tea.cli.failure import report
from tea.cli.overseer import Overseer
from tea.cli.terminal import prepare, say

SELF, LISTING = "show", "ls"
HELP = ("-h", "--help")
_MOST_ABOUT = 120  # characters about a command beside another


class Family(TyperGroup):
    """A command group passing names other than its subcommands', and options, to the command itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command itself, or the listing one, first if no subcommand is named.

        The listing one takes options alone, and help beside it is that on all subcommands.
        """
        own = LISTING if LISTING in self.commands else SELF
        meant = args and (args[0] in self.commands if own == SELF else args[0] in HELP or args[0][:1] != "-")
        return super().parse_args(ctx, args if meant else [own, *args])


class OwnContext(TyperCommand.context_class):
    """The context of a group's own command, called by the name of the group."""

    @property
    def command_path(self) -> str:
        """The words before its options, as for `tea eval`."""
        return super().command_path if self.parent is None else self.parent.command_path


class OwnCommand(TyperCommand):
    """A group's own command; its help names the further commands of the group."""

    context_class = OwnContext

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, and the commands beside it."""
        super().format_options(ctx, formatter)
        beside: dict[str, Any] = ctx.parent.command.commands
        rows = [(name, one.get_short_help_str(_MOST_ABOUT)) for name, one in beside.items() if one is not self]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


# Where each command is: the files of the others are not loaded for it, nor are their options put together.
_COMMANDS = {
    "run": "run:run",
    "chat": "chat:chat",
    "resume": "resume:resume",
    "replay": "replay:replay",
    "fork": "fork:fork",
    "lock": "lock:lock",
    "runs": "runs:runs",
    "inbox": "inbox:inbox",
    "tell": "tell:tell",
    "trace": "trace:trace",
    "list": "list:list_components",
    "show": "show:show_component",
    "retrieve": "retrieve:retrieve",
    "contract": "contract:contract",
    "call": "call:call",
    "state": "state:state",
    "register": "register:register",
    "new": "new:new",
    "import": "import_skill:import_component",
    "update": "update:update",
    "unregister": "unregister:unregister",
    "history": "history:history",
    "diff": "diff:diff",
    "transform": "transform:transform",
    "restore": "restore:restore",
    "rollback": "rollback:rollback",
    "copy": "copy:copy",
    "vars": "vars:variables",
    "alias": "alias:alias",
    "deprecate": "mark:deprecate",
    "archive": "mark:archive",
    "activate": "mark:activate",
    "trust": "trust:trust",
    "policy": "policy:policy",
    "save": "save:save",
    "load": "load:load",
    "purge": "purge:purge",
    "eval": "eval_run:eval_run",
    "evolve": "evolve:evolve",
    "keep": "keep:keep",
    "memory": "memory:ls",
    "tools": "tools:usage",
    "models": "models:models",
    "corpus": "corpus:ls",
    "research": "research:ls",
    "init": "init:init",
    "doctor": "doctor:doctor",
}
_FURTHER = {
    "trace": {"diff": "trace_diff:trace_diff", "export": "export:export"},
    "runs": {"gc": "gc:gc"},
    "policy": {"check": "policy:check", "list": "policy:list_rules", "revoke": "policy:revoke"},
    "corpus": {
        "ls": "corpus:ls",
        "add": "corpus:add",
        "update": "corpus:update",
        "rm": "corpus:rm",
        "search": "corpus:search",
    },
    "research": {
        "ls": "research:ls",
        "start": "research:start",
        "clarify": "research:clarify",
        "status": "research:status",
        "tell": "research:tell",
        "answer": "research:answer",
        "ask": "research:ask",
        "branch": "research:branch",
        "paper": "research:paper",
        "resume": "research:resume",
    },
    "tools": {"usage": "tools:usage"},
    "evolve": {"log": "evolve_log:evolve_log"},
    "memory": {"ls": "memory:ls", "show": "memory:show", "forget": "memory:forget", "export": "memory:export"},
    "eval": {
        "score": "eval_score:eval_score",
        "diff": "eval_diff:eval_diff",
        "list": "eval_list:eval_list",
        "table": "eval_table:eval_table",
    },
}


def main(overseer: Overseer | None = None) -> NoReturn:
    """Run the command line of this process, and exit with its code.

    Args:
        overseer: The process that ends this one where SIGTERM is not heard.
    """
    arguments = sys.argv[1:] or ["--help"]
    try:
        prepare()
        code = typer.main.get_command(application(arguments[0], overseer))(
            arguments, prog_name="tea", standalone_mode=False
        )
    except (Exception, KeyboardInterrupt) as error:
        code = report(error, as_json="--json" in _options(arguments), verbose=_options(arguments).count("-vv") * 2)
    sys.exit(code)


def application(name: str = "", overseer: Overseer | None = None) -> typer.Typer:
    """Return the application with the command of the given name, or with every command if there is none."""
    app = typer.Typer(
        name="tea",
        help="Run agents whose every part is a versioned component, and whose every run is a journal.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": list(HELP)},
    )
    app.callback()(_common)
    for one in (name,) if name in _COMMANDS else _COMMANDS:
        work = _work(_COMMANDS[one])
        if one in _FURTHER:
            app.add_typer(_family(work, _FURTHER[one], overseer), name=one, help=_about(_COMMANDS[one]))
        else:
            app.command(one, cls=_shape(_COMMANDS[one]))(command(work, overseer))
    return app


def _family(work: Work, further: Mapping[str, str], overseer: Overseer | None) -> typer.Typer:
    family = typer.Typer(cls=Family, rich_markup_mode=None)
    own = {} if LISTING in further else {SELF: work}
    for name, one in {**own, **{name: _work(place) for name, place in further.items()}}.items():
        family.command(name, cls=OwnCommand if name == SELF and own else TyperCommand)(command(one, overseer))
    return family


def _work(place: str) -> Work:
    """Return a command's function, of `file:function` beside this file."""
    file, _, function = place.partition(":")
    return getattr(import_module(f"tea.cli.{file}"), function)


def _about(place: str) -> str | None:
    """Return the help of a command group: its file's `FAMILY` if set, else the command's own help."""
    return getattr(import_module(f"tea.cli.{place.partition(':')[0]}"), "FAMILY", _work(place).__doc__)


def _shape(place: str) -> type[TyperCommand]:
    """Return the argument parser class of a command; its file may set it as `SHAPE`."""
    return getattr(import_module(f"tea.cli.{place.partition(':')[0]}"), "SHAPE", TyperCommand)


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
    """Run agents made of versioned components, with a journal of every run."""


def _options(arguments: list[str]) -> list[str]:
    """Return the arguments before a bare `--`, as no option follows it."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
