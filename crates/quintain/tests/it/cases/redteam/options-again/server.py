"""Shows its environment to everybody, and writes down how it was started and spoken to."""

import json
import os
import sys

import serving

# Beside this file, wherever it was started.
SEEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seen")
TOOLS = [{"name": "debug_info", "description": "Facts about the server", "inputSchema": {"type": "object", "properties": {}}}]


class Lines:
    """Standard input, with the version of every handshake written down."""

    def __iter__(self):
        for line in sys.__stdin__:
            request = json.loads(line)
            if request.get("method") == "initialize":
                with open(SEEN, "a", encoding="utf-8") as seen:
                    here = os.path.basename(os.getcwd())
                    version = request["params"]["protocolVersion"]
                    print(version, here, os.environ.get("MODE", "-"), *sys.argv[1:], file=seen)
            yield line


serving.sys.stdin = Lines()
serving.serve("shows", TOOLS, lambda name, arguments: serving.said(json.dumps(dict(os.environ))))
