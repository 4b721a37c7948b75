"""Shares with their uncertainty.

Runs of one user task are alike, so a share of n runs knows less than n coins would tell. The
interval is Wilson's, for the number of independent runs that have the same variance.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

_Z = 1.959964
"""Two-sided 95 %."""


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
    """The share of hits among outcomes that come in clusters; None where there are none.

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
    low, high = _wilson(hits.total() / totals.total(), _independent(hits, totals))
    return Rate(hits=hits.total(), total=totals.total(), low=low, high=high)


def _independent(hits: Counter[Hashable], totals: Counter[Hashable]) -> float:
    """How many independent outcomes would tell as much: at least one a cluster, at most all."""
    clusters, total = len(totals), totals.total()
    share = hits.total() / total
    if clusters == 1 or share in (0, 1):
        return clusters  # the outcomes do not tell how alike they are within a cluster
    spread = sum((hits[cluster] - share * totals[cluster]) ** 2 for cluster in totals)
    variance = spread * clusters / (clusters - 1) / total**2
    if variance == 0:
        return total
    return min(max(share * (1 - share) / variance, clusters), total)


def _wilson(share: float, total: float) -> tuple[float, float]:
    centre = share + _Z**2 / (2 * total)
    reach = _Z * math.sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
    scale = 1 + _Z**2 / total
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)
