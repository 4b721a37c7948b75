"""Which sources are left out together: sources of the same tasks or the same authors."""

from hashlib import sha256

_FAMILIES: tuple[frozenset[str], ...] = (
    frozenset(
        ("pairs:taubench", "pairs:tau2", "talks:tau-bench", "talks:agentrx-tau-retail")
        + ("talks:apollo-gold",)
    ),
    frozenset(
        ("pairs:toolemu", "pairs:injecagent", "talks:toolemu-runs", "talks:privacylens")
        + ("talks:hintbench-val", "talks:openagentsafety")
    ),
    frozenset(
        ("pairs:bfcl", "pairs:acebench", "pairs:glaive_demo", "pairs:sealtools")
        + ("pairs:toolalpaca", "pairs:toolrl_rlla", "pairs:nestful", "pairs:restbench")
        + ("pairs:stabletoolbench", "talks:bfcl-multi-turn", "talks:toolbench-runs")
    ),
    frozenset(
        ("pairs:workbench", "pairs:tooltalk", "pairs:apibank", "pairs:metatool")
        + ("talks:tooltalk", "talks:api-bank", "talks:crosswoz", "talks:livemcpbench")
    ),
)
FOLDS = len(_FAMILIES)
NEVER_TRAINED = frozenset(
    ("pairs:sgd", "talks:sgd", "pairs:taskmaster4", "talks:abcd-sample", "talks:coding-sessions")
)
"""Sources whose licence asks for more than a notice, and those without an outcome."""
_OWN_PARTS = 10
"""One of so many of our own scenarios is left out with each family."""


def is_left_out(source: str, id: str, fold: int | None) -> bool:
    """Whether a situation is left out of a fold; with None, of the released network."""
    if source in NEVER_TRAINED:
        return True
    if fold is None:
        return False
    if source.startswith("own:"):
        return _part(id) == fold
    return source in _FAMILIES[fold]


def _part(id: str) -> int:
    """The part of our own data, the same for all situations of a scenario."""
    scenario = id.partition("/")[0].partition(":")[0]
    return int(sha256(scenario.encode()).hexdigest()[:8], 16) % _OWN_PARTS
