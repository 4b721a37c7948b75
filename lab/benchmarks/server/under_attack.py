"""How long others wait, and how much memory a server takes, while it is attacked.

A server with the shipped judge and an SQLite file listens on loopback. In each round, clients send
it the worst bodies, texts and conversations that are known, several at once; an MCP gateway has the
worst results checked, and an audit reads the worst logs. Many connections send their bodies a byte
at a time. Meanwhile a process of its own asks for `/healthz` and for a check of a short message.
After each round the resident memory is read, and `/metrics`. Memory is flat if the last round ends
with hardly more than the second.
"""

import argparse
import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hostile_logs
import hostile_mcp
from attack_bodies import AZURE, CHAT, attacks
from server_processes import HOST, Running, fetched, taskshield

from taskshield_lab.bench.scripts import results_file

NOWHERE = "http://127.0.0.1:9"
"""Where no provider is: requests to the proxy end after their check."""
PAUSE_S = 0.02
AT_ONCE = 4
SLOW = 350
"""Connections whose bodies do not end."""
PATIENCE_S = 300.0
MOST_MS = 100.0
"""The bar for the 99th percentile of `/healthz`."""
MOST_GROWTH = 1.1
"""The memory of the last round against the second. Caches are full after two."""


def post(url: str, path: str, body: bytes) -> int:
    """The status of the answer; 0 without one."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        connection.request("POST", path, body, {"content-type": "application/json"})
        with connection.getresponse() as answer:
            answer.read()
            return answer.status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def wait_times(send: Callable[[HTTPConnection], None], port: int, stop: Event) -> list[float]:
    """Milliseconds of requests, one after the other."""
    found: list[float] = []
    connection = HTTPConnection(HOST, port, timeout=PATIENCE_S)
    while not (found and stop.is_set()):
        began = time.perf_counter()
        try:
            send(connection)
            connection.getresponse().read()
        except (OSError, HTTPException):
            connection.close()
        found.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE_S)
    return found


def ask_health(connection: HTTPConnection) -> None:
    """One request for `/healthz`."""
    connection.request("GET", "/healthz")


def ask_check(connection: HTTPConnection) -> None:
    """One check of a short, new call."""
    calls = {"function": {"name": "send_money", "arguments": json.dumps({"n": time.time()})}}
    body = {
        "messages": [
            {"source": "Prompt", "role": "User", "contents": "Pay the bill of Ada."},
            {"source": "Completion", "role": "Assistant", "contents": "Ok.", "toolCalls": [calls]},
        ]
    }
    headers = {"content-type": "application/json"}
    connection.request("POST", AZURE, json.dumps(body).encode(), headers)


def watch(port: int, ready: Event, stop: Event, results: Any) -> None:
    """Measure until told to stop, in a process of its own."""
    ready.set()
    with ThreadPoolExecutor() as threads:
        asked = [threads.submit(wait_times, send, port, stop) for send in (ask_health, ask_check)]
        results.put([one.result() for one in asked])


@contextmanager
def watched(port: int) -> Iterator[dict[str, dict[str, float]]]:
    """Latencies of others while something else happens; they are there at the end."""
    spawning = get_context("spawn")
    ready, stop, results = spawning.Event(), spawning.Event(), spawning.Queue()
    process = spawning.Process(target=watch, args=(port, ready, stop, results), daemon=True)
    found: dict[str, dict[str, float]] = {}
    process.start()
    ready.wait(PATIENCE_S)
    try:
        yield found
    finally:
        stop.set()
        health, check = results.get(timeout=PATIENCE_S)
        process.join()
        found |= {"healthz": summary(health), "short check": summary(check)}


def summary(times: list[float]) -> dict[str, float]:
    """Quantiles of latencies."""
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)

    return {"requests": len(times), "p50": at(0.5), "p99": at(0.99), "max": at(1.0)}


@contextmanager
def slow_bodies(port: int) -> Iterator[list[socket.socket]]:
    """Connections whose bodies begin and do not end."""
    head = f"POST {CHAT} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 1000\r\n\r\n{{"
    with ExitStack() as opened:
        connections = [
            opened.enter_context(socket.create_connection((HOST, port))) for _ in range(SLOW)
        ]
        for connection in connections:
            connection.sendall(head.encode())
        yield connections


def still_open(connections: list[socket.socket]) -> int:
    """How many of these connections the server has not answered."""
    count = 0
    for connection in connections:
        connection.setblocking(False)
        try:
            connection.recv(1)
        except BlockingIOError:
            count += 1
        except OSError:
            continue
    return count


def resident_mib(running: Running) -> float:
    """Resident memory of the server."""
    status = Path(f"/proc/{running.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return round(int(found[1]) / 1024, 1)


def in_memory(running: Running) -> dict[str, int]:
    """What the server says that it has in memory, in bytes."""
    text = fetched(f"{running.url}/metrics") or ""
    found = re.findall(r'^taskshield_memory_bytes\{kind="(\w+)"\} (\S+)$', text, re.MULTILINE)
    return {kind: int(float(size)) for kind, size in found}


def attack(running: Running, folder: Path, round: int, characters: int) -> dict[str, Any]:
    """One round: all attacks, a few at once."""
    statuses: dict[str, int] = {}

    def send(one: tuple[str, str, bytes]) -> None:
        name, path, body = one
        statuses[name] = post(running.url, path, body)

    began, cpu = time.perf_counter(), running.cpu_s()
    with watched(running.port) as found, ThreadPoolExecutor(AT_ONCE + 2) as threads:
        mcp = threads.submit(hostile_mcp.call_all, running.url, f"round {round}")
        logs = threads.submit(hostile_logs.audited, folder / "logs", folder / f"audit-{round}")
        sent = [threads.submit(send, one) for one in attacks(round, characters)]
        for each in sent:
            each.result()
        results, audit = mcp.result(), logs.result()
    return {
        "round": round,
        "seconds": round_to(time.perf_counter() - began),
        "cpu_s": round_to(running.cpu_s() - cpu),
        "latency_ms": found,
        "statuses": statuses,
        "mcp_results": results,
        "audit": audit,
        "resident_mib": resident_mib(running),
        "memory_bytes": in_memory(running),
    }


def told(round: dict[str, Any]) -> str:
    """One round in a line."""
    health = round["latency_ms"]["healthz"]
    times = ", ".join(f"{name} {health[name]:g} ms" for name in ("p50", "p99", "max"))
    return f"round {round['round']}: /healthz {times}; {round['resident_mib']:g} MiB"


def bars(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What has to be shown, and whether it is."""
    slowest = max(round["latency_ms"]["healthz"]["p99"] for round in rounds)
    growth = rounds[-1]["resident_mib"] / rounds[min(1, len(rounds) - 1)]["resident_mib"]
    return {
        "healthz_p99_ms": slowest,
        "healthz_in_time": slowest < MOST_MS,
        "memory_growth": round(growth, 3),
        "memory_flat": growth <= MOST_GROWTH,
    }


round_to = partial(round, ndigits=1)


def main() -> None:
    """Attack a server, and write what it did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--characters", type=int, default=1_900_000, help="of the long texts")
    parser.add_argument("--wait", type=float, default=35.0, help="seconds for slow bodies to end")
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    options = parser.parse_args()
    with TemporaryDirectory() as folder, taskshield(Path(folder), NOWHERE) as running:
        (Path(folder) / "logs").mkdir()
        hostile_logs.write_logs(Path(folder) / "logs")
        with watched(running.port) as idle:
            time.sleep(3)
        before = resident_mib(running)
        with slow_bodies(running.port) as connections:
            opened, rounds = time.perf_counter(), []
            for number in range(options.rounds):
                rounds.append(attack(running, Path(folder), number, options.characters))
                print(told(rounds[-1]), flush=True)
            time.sleep(max(0.0, options.wait - (time.perf_counter() - opened)))
            left = still_open(connections)
        figures = {
            "characters": options.characters,
            "idle_latency_ms": idle,
            "idle_resident_mib": before,
            "slow_bodies": {"opened": SLOW, "open_at_the_end": left},
            "bars": bars(rounds),
            "rounds": rounds,
        }
    path = results_file.write("under_attack", figures, inputs=[], folder=options.results)
    print("\n".join(f"{name}: {value}" for name, value in figures["bars"].items()))
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
