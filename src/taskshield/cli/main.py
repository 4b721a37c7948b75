"""The command `taskshield`: finds the subcommand and turns errors into exit statuses."""

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial

from taskshield._version import __version__
from taskshield.cli import hook, keys, mcp, serve
from taskshield.cli.audit import command as audit
from taskshield.cli.check import command as check
from taskshield.cli.check_result import BAD_INPUT
from taskshield.cli.db import command as db
from taskshield.cli.doctor import command as doctor
from taskshield.cli.missing_packages import explain
from taskshield.cli.plugin_commands import add_plugin_commands
from taskshield.cli.terminal import complain
from taskshield.core.errors import TaskShieldError

_INTERRUPTED = 130
_OUTPUT_CLOSED = 141
"""As shells report them: 128 plus the number of the signal."""
_EPILOG = """\
first steps:
  taskshield check FILE   judge a conversation that was recorded
  taskshield serve        run the server; needs the extra: 'taskshield[server]'
  taskshield doctor       find out whether all is in order

`taskshield COMMAND --help` explains a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    extra: str | None = None
    try:
        try:
            options = _parser().parse_args(argv)
            options.words = sys.argv[1:] if argv is None else argv
            extra = getattr(options, "extra", None)
            status: int = options.run(options)
            return status
        finally:
            # A flush at the end of the interpreter could fail outside of any `except`.
            if sys.stdout is not None:
                sys.stdout.flush()
    except TaskShieldError as error:
        complain(str(error))
        return BAD_INPUT
    except ModuleNotFoundError as error:
        complain(str(explain(error, extra)))
        return BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return _OUTPUT_CLOSED
    except OSError as error:
        _drop_output()
        complain(f"Input or output failed: {error.strerror}.")
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="taskshield",
        description="A guard for LLM agents: does this serve the user's task?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"taskshield {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    check.add_parser(commands)
    audit.add_parser(commands)
    serve.add_parser(commands)
    keys.add_parser(commands)
    db.add_parser(commands)
    hook.add_parser(commands)
    mcp.add_parser(commands)
    doctor.add_parser(commands)
    add_plugin_commands(commands)
    parser.set_defaults(run=partial(_show_help, parser))
    return parser


def _show_help(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """What a command line without a command does. Its status is that of a wrong one."""
    parser.print_help()
    return BAD_INPUT


def _drop_output() -> None:
    """Discard the rest of the output, so that writing it does not fail again at exit."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    os.close(sink)
