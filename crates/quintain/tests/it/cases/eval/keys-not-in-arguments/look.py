"""Looks at the arguments of its own process, as every user of the machine can, for a key."""
import json
import os
import sys


def seen():
    with open("/proc/self/cmdline", "rb") as file:
        line = file.read()
    # The literal stands in the suite as it is written.
    leaks = [key for key in ("canary-1f7a9c0e", "literal-5d20b1") if key.encode() in line]
    return "seen in the arguments" if leaks else "not seen"


def call_api(prompt, options, context):
    return {"output": f"{seen()}, key {options['config']['apiKey'][:6]}"}


def get_transform(output, context):
    return f"{output}, transform: {seen()}"


def get_assert(output, context):
    return {"pass": seen() == "not seen", "score": 1, "reason": seen()}


def get_var(name, prompt, vars):
    return {"output": seen()}


if __name__ == "__main__" and len(sys.argv) > 3:
    # promptfoo's contract: prompt, options, context.
    prompt, options, context = sys.argv[-3], json.loads(sys.argv[-2]), json.loads(sys.argv[-1])
    whole = json.loads(os.environ["QUINTAIN_OPTIONS"])["config"]
    print(seen(), "|", prompt, "|", json.dumps(options["config"] | {"basePath": ""}), "|", context["vars"]["where"],
          "| whole:", whole["apiKey"][:6], whole["password"][:7], os.environ["QUINTAIN_PROMPT"][:16],
          json.loads(os.environ["QUINTAIN_CONTEXT"])["vars"]["token"][:6])
