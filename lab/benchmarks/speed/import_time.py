"""Time of `import taskshield`, and the heavy libraries that it imports.

Each measurement is a fresh interpreter. The time of an empty interpreter is subtracted.
"""

import json
import statistics
import subprocess
import sys
import time

from taskshield_lab.bench.scripts import results_file

TIMES = 15
HEAVY = ("anthropic", "onnxruntime", "openai", "pydantic", "starlette", "torch")


def seconds(code: str) -> float:
    """Seconds that an interpreter takes to start, run this code and stop."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def median_ms(code: str, times: int = TIMES) -> float:
    """The median over several interpreters. One more runs first, to fill the file cache."""
    seconds(code)
    return statistics.median(seconds(code) for _ in range(times)) * 1000


def imported() -> list[str]:
    """The heavy libraries that `import taskshield` imports."""
    code = (
        f"import json, sys, taskshield; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    names: list[str] = json.loads(printed.stdout)
    return names


def main() -> None:
    empty = median_ms("pass")
    full = median_ms("import taskshield")
    figures = {
        "interpreters": TIMES,
        "import_ms": round(full - empty, 1),
        "empty_interpreter_ms": round(empty, 1),
        "heavy_libraries": imported(),
    }
    path = results_file.write("import_time", figures, inputs=[], folder=results_file.RESULTS)
    brought = ", ".join(imported()) or "none"
    print(
        f"import taskshield: {figures['import_ms']} ms beyond an empty interpreter's {empty:.1f} ms"
    )
    print(f"heavy libraries that come with it (of {', '.join(HEAVY)}): {brought}")
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
