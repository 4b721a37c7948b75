"""A real language model behind an OpenAI-compatible address: `python llm_server.py MODEL ADDRESS`.

Takes a free port and writes where it listens to the file ADDRESS, once it does: what it prints is
llama.cpp's log, whose threads write into the middle of a line. Runs until it is terminated. It is
llama.cpp's own server, as xllamacpp ships it.
"""

import os
import sys
import threading
from pathlib import Path

from xllamacpp import CommonParams, Server

CONTEXT = 8192
"""Tokens in and out; a check of an ordinary message takes 800 to 3,000."""
ANSWER = 100
"""Tokens of an answer where the request sets no limit: so small a model finds no end."""


def main(model: str, address: str) -> None:
    config = CommonParams()
    config.model.path = model
    config.port = 0
    config.n_ctx = CONTEXT
    config.n_predict = ANSWER
    config.n_parallel = 1
    for threads in (config.cpuparams, config.cpuparams_batch):
        threads.n_threads = os.cpu_count() or 1
    server = Server(config)
    unfinished = Path(f"{address}.unfinished")
    unfinished.write_text(server.listening_address)
    unfinished.rename(address)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
