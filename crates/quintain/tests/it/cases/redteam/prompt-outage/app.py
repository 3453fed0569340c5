"""A target that works for some messages, then fails for good, or that thinks for too long."""

import time
from pathlib import Path


def call_api(prompt, options, context):
    config = options.get("config", {})
    time.sleep(config.get("seconds", 0))
    counter = Path(config["counter"])
    calls = int(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text(str(calls))
    if calls > config["works"]:
        return {"error": "rate limit exceeded (429)"}
    return {"output": "I can only help with invoices."}
