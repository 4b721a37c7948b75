"""A real language model behind an OpenAI-compatible address: `python llm_server.py MODEL PORT`.

Prints its address once it listens; port 0 takes any free one. Runs until it is terminated. It is
llama.cpp's own server, as xllamacpp ships it.
"""

import os
import sys
import threading

from xllamacpp import CommonParams, Server

CONTEXT = 8192
"""Tokens in and out; a check of an ordinary message takes 800 to 3,000."""
ANSWER = 100
"""Tokens of an answer where the request sets no limit: so small a model finds no end."""


def main(model: str, port: str) -> None:
    config = CommonParams()
    config.model.path = model
    config.port = int(port)
    config.n_ctx = CONTEXT
    config.n_predict = ANSWER
    config.n_parallel = 1
    for threads in (config.cpuparams, config.cpuparams_batch):
        threads.n_threads = os.cpu_count() or 1
    server = Server(config)
    print(f"listening on {server.listening_address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
