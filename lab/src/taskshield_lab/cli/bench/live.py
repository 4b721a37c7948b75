"""`taskshield bench live`: a real model in AgentDojo's worlds."""

import argparse
from functools import partial

from taskshield_lab.bench.records import NO_DEFENCE
from taskshield_lab.cli.bench import run_benchmark
from taskshield_lab.cli.bench.missing_extra import needs_eval
from taskshield_lab.cli.bench.options import add_common, add_part, common, file_name, seconds, some

_DESCRIPTION = """\
A real model works on the tasks in AgentDojo's worlds, behind the shield, or
behind one of AgentDojo's own defences, or behind nothing. Behind the shield it
gets feedback and may try again.
"""
_EPILOG = """\
The key of the agent's endpoint comes from OPENAI_API_KEY or ANTHROPIC_API_KEY.
There is no option for it: command lines can be seen by everybody on the
machine.
"""


def add_parser(ways: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = ways.add_parser(
        "live",
        help="a real model, with feedback rounds",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    agent = parser.add_argument_group("the agent")
    agent.add_argument(
        "--agent",
        required=True,
        metavar="NAME",
        help="who works, e.g. openai:gpt-4o or anthropic:claude-sonnet-5",
    )
    agent.add_argument("--agent-url", metavar="URL", help="address of the agent's endpoint")
    agent.add_argument(
        "--agent-timeout", type=seconds, default=120.0, metavar="S", help="for one request"
    )
    agent.add_argument(
        "--defence",
        default=NO_DEFENCE,
        metavar="NAME",
        help="one of AgentDojo's: tool_filter, repeat_user_prompt, spotlighting_with_delimiting,"
        " transformers_pi_detector; only with --judge none",
    )
    add_common(parser, attacks="repeatable; important_instructions where none is named")
    add_part(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Sit the exam and print the figures.

    Raises:
        TaskShieldError: An option or a setting is wrong, or no request will ever get an answer.
    """
    options = common(given)
    with needs_eval():
        from taskshield_lab.bench.agentdojo.items import items
        from taskshield_lab.bench.run import live
        from taskshield_lab.bench.run.pipelines import Agent, build_pipeline, check_agent
    agent = Agent(
        model=given.agent,
        base_url=given.agent_url,
        defence=given.defence,
        timeout_s=given.agent_timeout,
    )
    check_agent(agent, guarded=options.judge != NO_DEFENCE)
    build_pipeline(agent)  # what is wrong with it is found out before anything is written
    chosen = run_benchmark.selection(options, given)
    return run_benchmark.sit(
        options,
        run_benchmark.Benchmark(
            way="live",
            attacks=chosen.attacks,
            jobs=items(chosen),
            id_of=lambda item: item.id(agent.model),
            sit=partial(live.sit, version=options.version, agent=agent),
            name=file_name("live", options.version, agent.model, some(chosen.attacks)),
            defence=agent.defence,
            told=agent.base_url or "",
            retried=True,
        ),
    )
