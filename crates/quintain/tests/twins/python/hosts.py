"""Inventory of hosts. Weak: values are pasted into shell command lines, bare and in both kinds of quotes."""

import os
import re
import subprocess

from mcp import Server, ToolError, options, seed, string

opts = options()
server = Server("hosts", "1.4.0", strict=True)
seed(opts.root, {
    "hosts.txt": "web-1 10.0.0.11\nweb-2 10.0.0.12\ndb-1 10.0.0.21\n",
    "logs/nginx.log": "started\nreloaded\n",
    "logs/postgres.log": "ready\n",
})


def run(command):
    """Runs a command line or a list of words in the root."""
    done = subprocess.run(
        command, shell=isinstance(command, str), cwd=opts.root, timeout=10,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    return done.stdout.strip()


def plain(kind, value):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", value):
        raise ToolError(f"Invalid {kind}: {value!r}")
    return value


@server.tool("list_hosts", "List the hosts of the inventory.")
def list_hosts():
    return run(["cut", "-d", " ", "-f", "1", "hosts.txt"])


@server.tool("lookup_host", "Find a host of the inventory and its address.",
             {"name": string("Name of the host, or a part of it", examples=["web-1"])}, ["name"])
def lookup_host(name):
    if opts.fixed:
        return run(["grep", "-i", "-F", "-e", name, "hosts.txt"]) or "No match."
    return run(f'grep -i -F -e "{name}" hosts.txt') or "No match."


@server.tool("count_log_lines", "Count the lines in the log of a service.",
             {"service": string("Service: nginx or postgres", examples=["nginx"])}, ["service"])
def count_log_lines(service):
    if opts.fixed:
        plain("service", service)
    return run(f"wc -l < logs/{service}.log") or "0"


@server.tool("mark_reboot", "Record that a host was rebooted.",
             {"host": string("Name of the host", examples=["web-1"]),
              "reason": string("Why it was rebooted", maxLength=200, examples=["kernel update"])}, ["host", "reason"])
def mark_reboot(host, reason):
    plain("host", host)
    if opts.fixed:
        with open(f"{opts.root}/reboots.log", "a", encoding="utf-8") as log:
            log.write(f"{host} {reason!r}\n")
    else:
        run(f"echo {host} '{reason}' >> reboots.log")
    return "Recorded."


@server.tool("measure_folder", "Tell how large a folder of the inventory is.",
             {"path": string("Path of the folder", examples=[os.path.join(opts.root, "logs")])}, ["path"])
def measure_folder(path):
    inside = os.path.realpath(path).startswith(os.path.realpath(opts.root) + os.sep)
    if not inside or not os.path.isdir(path):
        raise ToolError("There is no such folder")
    if opts.fixed:
        run(["du", "-s", "--", path])
    else:
        run(f'du -s "{path}"')
    return "Measured."


@server.tool("drain_host", "Take a host out of rotation by hostctl.",
             {"name": string("Name of the host", examples=["web-1"])}, ["name"])
def drain_host(name):
    # The tool of the inventory need not be installed.
    tools = f"{opts.root}/bin:{os.environ['PATH']}"
    done = subprocess.run("hostctl --version", shell=True, cwd=opts.root, env={"PATH": tools}, timeout=10,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        return f"hostctl cannot be run. {done.stderr.strip()}"
    command = ["hostctl", "drain", "--", name] if opts.fixed else f"hostctl drain {name}"
    subprocess.run(command, shell=not opts.fixed, cwd=opts.root, env={"PATH": tools}, timeout=10,
                   stdin=subprocess.DEVNULL, capture_output=True)
    return "Drained."


@server.tool("describe_host", "Describe a host in one sentence.",
             {"name": string("Name of the host", examples=["db-1"])}, ["name"])
def describe_host(name):
    return run(["sh", "-c", 'printf "Host %s belongs to the inventory." "$1"', "sh", name])


@server.tool("plan_restart", "Show the command that would restart a service. Nothing is run.",
             {"service": string("Service to restart", examples=["nginx"])}, ["service"])
def plan_restart(service):
    return f"Would run: systemctl restart {service}"


@server.tool("tag_host", "Check whether a tag may be put on a host.",
             {"name": string("Name of the host", examples=["web-2"]), "tag": string("Tag", examples=["blue"])}, ["name", "tag"])
def tag_host(name, tag):
    return f"Tag {plain('tag', tag)} is free on {plain('host', name)}."


server.run(opts)
