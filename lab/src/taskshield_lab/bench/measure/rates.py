"""Shares with 95 % intervals.

Runs of one user task are correlated, so a share of n runs is less certain than one of n independent
runs. The interval is Wilson's, for the number of independent runs with the same variance, with
Student's quantile for the number of clusters.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

_Z = 1.959964
"""Of the normal distribution, two-sided 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many of how many, with a 95 % interval."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.hits / self.total


def rate(outcomes: Iterable[tuple[Hashable, bool]]) -> Rate | None:
    """The share of hits among clustered outcomes. None if there are no outcomes.

    Args:
        outcomes: For each outcome its cluster and whether it is a hit.
    """
    totals: Counter[Hashable] = Counter()
    hits: Counter[Hashable] = Counter()
    for cluster, hit in outcomes:
        totals[cluster] += 1
        hits[cluster] += hit
    if not totals:
        return None
    share = hits.total() / totals.total()
    low, high = _wilson(share, _independent(hits, totals), _student(len(totals) - 1))
    return Rate(hits=hits.total(), total=totals.total(), low=low, high=high)


def _independent(hits: Counter[Hashable], totals: Counter[Hashable]) -> float:
    """The number of independent outcomes with the same variance.

    At most all of them. At least as many as if the outcomes within each cluster were equal.
    """
    clusters, total = len(totals), totals.total()
    share = hits.total() / total
    fewest = total**2 / sum(size**2 for size in totals.values())
    if clusters == 1 or share in (0, 1):
        return fewest  # the correlation within a cluster cannot be estimated
    spread = sum((hits[cluster] - share * totals[cluster]) ** 2 for cluster in totals)
    variance = spread * clusters / (clusters - 1) / total**2
    if variance == 0:
        return total
    return min(max(share * (1 - share) / variance, fewest), total)


def _student(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's distribution, by Fisher's expansion."""
    if freedom < 3:
        return {0: math.inf, 1: 12.706, 2: 4.303}[freedom]
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _wilson(share: float, total: float, quantile: float) -> tuple[float, float]:
    if math.isinf(quantile):
        return 0.0, 1.0
    square = quantile**2
    centre = share + square / (2 * total)
    reach = quantile * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)
