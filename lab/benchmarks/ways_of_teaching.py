"""Which way of teaching a network carries over to what others wrote.

For each way one network is taught with our scenarios, but for the domains and styles of one fold,
on which its decision is then fitted; nothing public is taught. So two things are new to it in every
respect, other writers, other tools, another way of making them: the conversations composed of
PACK's validation side (`lab/benchmarks/public_conversations.py` tells what it is)
and our own worlds.

--base is that of `taskshield train`. Without a GPU it takes days.
"""

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import results_file

from taskshield_lab.training.conversations.from_worlds import conversations
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.composed import composed
from taskshield_lab.training.distractors.public_rows import read_pack
from taskshield_lab.training.fitting import calibration
from taskshield_lab.training.fitting.calibration import ClassifierFit
from taskshield_lab.training.fitting.cross_validation import FoldPredictions, examined
from taskshield_lab.training.fitting.model_folder import assembled, part
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.network import Network, from_base, mean_of, saved
from taskshield_lab.training.network.training_loop import Schedule, teach
from taskshield_lab.training.pipeline.datasets import lessons_for, spreading
from taskshield_lab.training.pipeline.predictions import examine_folds
from taskshield_lab.training.pipeline.training_run import TrainingRun
from taskshield_lab.training.sources.worlds import read_worlds

NAME = "ways_of_teaching"


@dataclass(frozen=True, slots=True)
class Way:
    """How long and how fast networks are taught, and of how many the mean is taken."""

    schedule: Schedule
    networks: int = 1


WAYS: Mapping[str, Way] = {
    "as in a course": Way(Schedule()),
    "one epoch, mean of two": Way(Schedule(epochs=1.0), networks=2),
    "a third of the rate": Way(Schedule(rate=5e-5)),
    "words as they were": Way(Schedule(words=False)),
}
Elsewhere = Mapping[str, Sequence[LabelledConversation]]
"""Conversations to ask about, by where they come from."""
_FOLD = 0
_RATES = (0.01, 0.02, 0.05)
DATA = Path(__file__).parents[1] / "data" / "training"
WORLDS = DATA.with_name("worlds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path, metavar="PACK")
    parser.add_argument("--base", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--worlds", type=Path, default=WORLDS, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="for networks")
    parser.add_argument("--way", action="append", choices=WAYS, help="repeatable; all if left")
    parser.add_argument("--per-scenario", type=int, default=6, metavar="N")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="ways at a time")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    course = TrainingRun(
        data=given.data,
        base=given.base,
        alignment=None,
        out=given.out,
        folds=(_FOLD,),
        networks=1,
        per_scenario=given.per_scenario,
        validation_per_scenario=given.per_scenario,
        workers=given.workers,
    )
    elsewhere = {
        "public conversations": list(composed(read_pack(given.pack, "valid"), course.seed)),
        "worlds": [talk for world in read_worlds(given.worlds) for talk in conversations(world)],
    }
    if not elsewhere["public conversations"]:
        parser.error(f"{given.pack.name} holds no rows for validation")
    lessons = lessons_for(course, course.split("train", _FOLD))
    courses = [
        replace(
            course,
            out=given.out / way.replace(",", "").replace(" ", "-"),
            schedule=WAYS[way].schedule,
            networks=WAYS[way].networks,
            workers=max(1, given.workers // given.at_once),
        )
        for way in given.way or WAYS
    ]
    with ProcessPoolExecutor(given.at_once, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(carried_over, one, lessons, elsewhere) for one in courses]
        ways = []
        for way, job in zip(given.way or WAYS, jobs, strict=True):
            ways.append({"way": way, **asdict(WAYS[way]), **job.result()})
            print(ways[-1], flush=True)
    figures = {"lessons": len(lessons), "ways": ways}
    path = results_file.write(NAME, figures, inputs=[given.pack.name], folder=given.results)
    print(f"written to {path.name}")


def carried_over(
    course: TrainingRun, lessons: TokenExamples, elsewhere: Elsewhere
) -> dict[str, object]:
    """Teach in one way; which share of the attacks is caught at home and elsewhere."""
    course.out.mkdir(parents=True, exist_ok=True)
    network = mean_of([_taught(course, lessons, seed) for seed in range(course.networks)])
    saved(network, course.out / f"fold-{_FOLD}.safetensors")  # where it is looked for
    (own,) = examine_folds(course, _quiet)
    limits = calibration.tag_limits(calibration.stacked_tags([own]))
    made = assembled([own])
    with spreading(course) as spread:
        caught = {
            where: _caught(
                examined(network, talks, [], course.tokenizer(), spread, limits), made.decision
            )
            for where, talks in elsewhere.items()
        }
    return {"at home": made.figures["all"], **caught}


def _taught(course: TrainingRun, lessons: TokenExamples, seed: int) -> Network:
    network = from_base(course.base)
    teach(network, lessons, replace(course.schedule, seed=seed), _quiet)
    return network


def _caught(
    foreign: FoldPredictions, decision: Mapping[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Attacks caught where so many good calls are held as the rates say."""
    weights = np.array([decision["weights"][name] for name in foreign.names])
    weigher = ClassifierFit(weights=weights, bias=0.0)  # the bias moves all calls alike
    judged = foreign.calls["view"] == "judged"
    hands_over = foreign.calls["delegating"].astype(bool)
    found = {}
    for who, rows in (("the user asks", ~hands_over), ("the user hands over", hands_over)):
        calls = part(foreign.calls, judged & rows)
        said = weigher.logits(calls["features"].astype(np.float64))
        found[who] = {str(rate): calibration.caught(said, calls, rate) for rate in _RATES}
    return found


def _quiet(_: str) -> None:
    pass


if __name__ == "__main__":
    main()
