"""A real language model behind an OpenAI-compatible address: `python llm_server.py MODEL PORT`.

Prints its address once it listens; port 0 takes any free one. Runs until it is terminated. It is
cyllama's own server, with llama.cpp underneath, made to answer more than once and fast enough.
"""

import os
import sys
import tempfile
import threading
from itertools import takewhile
from typing import Any

from cyllama.llama.llama_cpp import (
    LlamaModelQuantizeParams,
    llama_batch_get_one,
    model_quantize,
)
from cyllama.llama.server import python as cyllama_server

CONTEXT = 8192
"""Tokens in and out; a check of an ordinary message takes 800 to 3,000."""
Q4_0 = 2
"""llama.cpp's number for this kind of weights."""


class Slot(cyllama_server.ServerSlot):  # type: ignore[misc]  # cyllama has no types
    """A slot that keeps of one request what the next one begins with, and forgets the rest.

    That of cyllama 0.2.18 keeps everything in the KV cache and starts the next prompt at position 0
    all the same. llama.cpp rejects that, so every request but the first gets an empty answer.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        threads = (
            os.cpu_count() or 1
        )  # cyllama takes four, which on fewer get into each other's way
        self.context.set_n_threads(threads, threads)
        self._read: list[int] = []
        """The tokens that the KV cache holds."""

    def process_and_generate(self, prompt: str, max_tokens: int = 100, request: Any = None) -> str:
        self._build_sampler(temperature=request.temperature, seed=request.seed)
        vocabulary = self.model.get_vocab()
        new = vocabulary.tokenize(prompt, add_special=True, parse_special=True)
        if len(new) + max_tokens > CONTEXT:
            raise ValueError("the prompt is too long")
        pairs = zip(self._read, new[:-1], strict=False)  # at least one token must be read anew
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self.context.memory_seq_rm(0, kept, -1)
        self._read = new[:kept]
        self._feed(new[kept:])
        text = ""
        for _ in range(max_tokens):
            token = self.sampler.sample(self.context, -1)
            if vocabulary.is_eog(token):
                break
            text += vocabulary.token_to_piece(token, 0, True)
            self._feed([token])
        return text

    def _feed(self, tokens: list[int]) -> None:
        if self.context.decode(llama_batch_get_one(tokens, len(self._read))) != 0:
            raise RuntimeError("llama.cpp could not take the tokens")
        self._read += tokens


def faster(model: str, folder: str) -> str:
    """The same model with weights of another kind, which takes about a second to make.

    cyllama's wheels are built for any x86-64 processor. For such a build llama.cpp has no vector
    code for Q4_1, but has some for Q4_0, which reads prompts nearly three times as fast.
    """
    path = os.path.join(folder, "q4_0.gguf")
    parameters = LlamaModelQuantizeParams()
    parameters.ftype = Q4_0
    parameters.allow_requantize = True
    model_quantize(model, path, parameters)
    return path


def main(model: str, port: str) -> None:
    cyllama_server.ServerSlot = Slot
    with tempfile.TemporaryDirectory() as folder:
        # A prompt goes to llama.cpp in one batch, so a batch must be able to hold a whole context.
        config = cyllama_server.ServerConfig(
            model_path=faster(model, folder), port=int(port), n_ctx=CONTEXT, n_batch=CONTEXT
        )
        server = cyllama_server.PythonServer(config)
        if not server.start():
            sys.exit("the server did not start")
    # The model is mapped into memory by now; its file is not needed any more.
    host, bound = server.httpd.server_address
    print(f"listening on http://{host}:{bound}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
