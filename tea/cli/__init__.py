"""The command line: one file for each command, and what they share."""

import sys


def main() -> None:
    """Run the command line; an interruption while it is still loading is one too."""
    try:
        from tea.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("tea: Interrupted before it began. Fix: start it again.\n")
        raise SystemExit(130) from None
    run()
