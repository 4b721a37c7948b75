"""`taskshield bench live`: a real model works on AgentDojo's tasks."""

import argparse
from functools import partial

from taskshield_lab.bench.records import NO_DEFENCE
from taskshield_lab.cli.bench import run_benchmark
from taskshield_lab.cli.bench.missing_extra import needs_eval
from taskshield_lab.cli.bench.options import (
    add_common_options,
    add_task_selection,
    common_options,
    file_name,
    join_names,
    seconds,
)

_DESCRIPTION = """\
A real model works on AgentDojo's tasks: guarded by the shield, by one of
AgentDojo's own defences, or not at all. With the shield, the model gets feedback
and may try again.
"""
_EPILOG = """\
The key of the agent's endpoint is read from OPENAI_API_KEY or ANTHROPIC_API_KEY.
There is no option for it, because other users of a machine can see command lines.
"""


def add_parser(subcommands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = subcommands.add_parser(
        "live",
        help="run a real model, with feedback rounds",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    agent = parser.add_argument_group("the agent")
    agent.add_argument(
        "--agent",
        required=True,
        metavar="NAME",
        help="the model, e.g. openai:gpt-4o or anthropic:claude-sonnet-5",
    )
    agent.add_argument("--agent-url", metavar="URL", help="address of the agent's endpoint")
    agent.add_argument(
        "--agent-timeout",
        type=seconds,
        default=120.0,
        metavar="S",
        help="time limit for one request (default: 120)",
    )
    agent.add_argument(
        "--defence",
        default=NO_DEFENCE,
        metavar="NAME",
        help="one of AgentDojo's: tool_filter, repeat_user_prompt, spotlighting_with_delimiting,"
        " transformers_pi_detector; only with --judge none",
    )
    add_common_options(parser, attacks="an attack; repeatable (default: important_instructions)")
    add_task_selection(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Run the items and print the figures.

    Raises:
        TaskShieldError: An option or a setting is wrong, or every request would fail.
    """
    options = common_options(given)
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
    build_pipeline(agent)  # raises on wrong options before anything is written
    chosen = run_benchmark.selection(options, given)
    return run_benchmark.run_benchmark(
        options,
        run_benchmark.Benchmark(
            way="live",
            attacks=chosen.attacks,
            jobs=items(chosen),
            id_of=lambda item: item.id(agent.model),
            run=partial(live.run_with_agent, version=options.version, agent=agent),
            name=file_name("live", options.version, agent.model, join_names(chosen.attacks)),
            defence=agent.defence,
            extra_settings=agent.base_url or "",
            retry_failed=True,
        ),
    )
