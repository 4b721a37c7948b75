"""Makes tool output of any length from our scenarios. The same seed gives the same output."""

import json
from pathlib import Path
from random import Random

SCENARIOS = Path(__file__).parents[2] / "data" / "training" / "scenarios"


class Material:
    """The tool outputs of the scenarios, in many formats."""

    def __init__(self, folder: Path = SCENARIOS) -> None:
        self._texts = [
            step["output"].replace("{{INJ}}", "")
            for path in sorted(folder.glob("*.jsonl"))
            for line in path.read_text("utf-8").splitlines()
            for step in json.loads(line)["steps"]
        ]

    def output(self, size: int, rng: Random) -> str:
        """Outputs with changed numbers, joined until they have this size."""
        parts: list[str] = []
        left = size
        while left > 0:
            text = rng.choice(self._texts).replace("1", str(rng.randrange(10)))
            parts.append(text)
            left -= len(text.encode("utf-8")) + 2
        whole = "\n\n".join(parts).encode("utf-8")[:size]
        return whole.decode("utf-8", "ignore")
