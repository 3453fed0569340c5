"""Runs health checks. Weak: nested values, array items and a map of variables reach a shell, some only after a valid id."""

import re
import secrets
import shlex
import subprocess

from mcp import Server, ToolError, obj, options, seed, string

opts = options()
server = Server("checks", "0.9.2", strict=True)
seed(opts.root, {"check.sh": 'echo "target $1 is healthy (${REGION:-any})"\n'})
CHECKS = {f"chk-{secrets.token_hex(4)}": name for name in ("disk", "memory", "latency")}
JOBS = {}
TARGET = string("Host or service to check", examples=["db-1"])
CHECK_ID = string("Id of a check, from list_checks", pattern="^chk-[0-9a-f]{8}$")


def run(command, **env):
    done = subprocess.run(
        command, shell=isinstance(command, str), cwd=opts.root, timeout=10, env={"PATH": "/usr/bin:/bin", **env},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    return done.stdout.strip()


def known(check_id):
    if check_id not in CHECKS:
        raise ToolError(f"Unknown check: {check_id}")
    return CHECKS[check_id]


@server.tool("list_checks", "List the checks with their ids.")
def list_checks():
    return {"checks": [{"check_id": i, "name": n} for i, n in CHECKS.items()]}


@server.tool("run_check", "Run one check.", {
    "check_id": CHECK_ID,
    "options": obj({"target": TARGET, "verbose": {"type": "boolean", "default": False}}, ["target"]),
}, ["check_id", "options"])
def run_check(check_id, options):
    known(check_id)
    if opts.fixed:
        return run(["sh", "check.sh", options["target"]])
    return run(f"sh check.sh {options['target']}")


@server.tool("ping_targets", "Ask several targets for a sign of life.", {
    "targets": {"type": "array", "items": TARGET, "minItems": 1, "maxItems": 10, "description": "Targets, in order"},
}, ["targets"])
def ping_targets(targets):
    if opts.fixed:
        return "\n".join(run(["echo", "pong", target]) for target in targets)
    return "\n".join(run(f'echo "pong {target}"') for target in targets)


@server.tool("start_job", "Start a check in the background; the result is kept for get_job.", {
    "check_id": CHECK_ID,
    "env": {"type": "object", "description": "Variables of the check: REGION, LEVEL", "additionalProperties": {"type": "string"},
            "examples": [{"REGION": "eu"}]},
}, ["check_id", "env"])
def start_job(check_id, env):
    known(check_id)
    if opts.fixed:
        if set(env) - {"REGION", "LEVEL"}:
            raise ToolError("Only REGION and LEVEL can be set")
        done = run(["sh", "check.sh", "job"], **env)
    else:
        done = run(" ".join(f"{name}={value}" for name, value in env.items()) + " sh check.sh job")
    job = f"job-{len(JOBS) + 1}"
    JOBS[job] = "healthy" if "healthy" in done else "failed"
    return {"job_id": job}


@server.tool("get_job", "State of a job that start_job has started.",
             {"job_id": string("Id from start_job", pattern="^job-[0-9]+$", examples=["job-1"])}, ["job_id"])
def get_job(job_id):
    if job_id not in JOBS:
        raise ToolError(f"No such job: {job_id}")
    return {"job_id": job_id, "state": JOBS[job_id]}


@server.tool("preview_check", "Show the command line of a check without running it.",
             {"check_id": CHECK_ID, "target": TARGET}, ["check_id", "target"])
def preview_check(check_id, target):
    known(check_id)
    return f"$ sh check.sh {shlex.quote(target)}"


@server.tool("annotate_check", "Print a comment on a check.",
             {"check_id": CHECK_ID, "comment": string("Comment", maxLength=200, examples=["looks fine"])}, ["check_id", "comment"])
def annotate_check(check_id, comment):
    return run(f"echo comment on {known(check_id)}: {shlex.quote(comment)}")


@server.tool("silence_target", "Check whether alerts of a target may be silenced.", {"target": TARGET}, ["target"])
def silence_target(target):
    if not re.fullmatch(r"[a-z0-9-]+", target):
        raise ToolError(f"sh: refused to run: silence '{target}'")
    return "Allowed."


server.run(opts)
