"""`taskshield check`: judge every message of a recorded conversation."""

import argparse
from dataclasses import dataclass

from taskshield.api.shields import Shield
from taskshield.cli import terminal
from taskshield.cli.check import conversation_file
from taskshield.cli.check.json_report import report_json
from taskshield.cli.check.report import report
from taskshield.cli.check_result import EXIT_STATUS, Outcome
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConversationError, WireFormatError
from taskshield.core.messages import Conversation

_DESCRIPTION = """\
Judge every message of a recorded conversation as it would be judged live, and
report which steps and which directives in tool output do not serve the user's
tasks.
"""
_EPILOG = """\
The key of the judge's endpoint comes from OPENAI_API_KEY, ANTHROPIC_API_KEY,
TASKSHIELD_API_KEY or the settings file. There is no option for it, because all
users of a machine can see its command lines.

exit status:
  0  every message is aligned
  1  something is misaligned
  2  there is no verdict: the input, the settings or the command line is wrong
  3  nothing is misaligned, but at least one message could not be checked
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line of `check`."""

    file: str
    judge: str | None = None
    llm: str | None = None
    base_url: str | None = None
    config: str | None = None
    json: bool = False
    quiet: bool = False
    color: bool = True


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "check",
        help="judge a recorded conversation",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="OpenAI chat messages, Anthropic messages or taskshield's own JSON; - for stdin",
    )
    parser.add_argument("--judge", metavar="NAME", help="the judge, e.g. openai:gpt-4o-mini")
    parser.add_argument(
        "--llm", metavar="NAME", help="the LLM of the judge cascade, e.g. openai:gpt-4o-mini"
    )
    parser.add_argument("--base-url", metavar="URL", help="base URL of the judge's endpoint")
    parser.add_argument("--config", metavar="FILE", help="settings file, YAML or TOML")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("-q", "--quiet", action="store_true", help="leave out aligned messages")
    terminal.add_color(parser)
    parser.set_defaults(run=lambda given: run(_options(given)))


def run(options: Options) -> int:
    """Check the file, print the outcome and return the exit status.

    Raises:
        TaskShieldError: The conversation cannot be read or a setting is wrong.
    """
    found = conversation_file.read(options.file)
    conversation = found.conversation
    with (
        terminal.progress(len(conversation.messages)) as advance,
        Shield(
            options.judge,
            config=options.config,
            on_decision=advance,
            llm=options.llm,
            base_url=options.base_url,
        ) as shield,
    ):
        decisions = check_conversation(conversation, shield)
    outcome = Outcome(file=options.file, format=found.format, decisions=decisions)
    console = terminal.output(color=options.color)
    if options.json:
        console.file.write(f"{report_json(outcome)}\n")
    else:
        terminal.show(console, report(outcome, problems_only=options.quiet))
    return EXIT_STATUS[outcome.verdict]


def check_conversation(conversation: Conversation, shield: Shield) -> tuple[Decision, ...]:
    """Judge one message after the other.

    A recording may hold outputs of calls that the shield would have blocked. They are judged, too,
    because the agent did read them.

    Raises:
        WireFormatError: A message makes no sense in its conversation.
    """
    session = shield.session(tools=conversation.tools)
    decisions: list[Decision] = []
    for message in conversation.messages:
        try:
            decisions.append(session.add(message))
        except ConversationError as error:
            raise WireFormatError(f"message {len(decisions)}: {error}") from None
    return tuple(decisions)


def _options(given: argparse.Namespace) -> Options:
    return Options(
        file=given.file,
        judge=given.judge,
        llm=given.llm,
        base_url=given.base_url,
        config=given.config,
        json=given.json,
        quiet=given.quiet,
        color=given.color,
    )
