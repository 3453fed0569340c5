"""Looks into git repositories below a root. Weak: any repository of the machine will do."""

import os
import subprocess

from mcp import Server, ToolError, options, seed, string

opts = options()
server = Server("history", "1.3.0", strict=True)
OWN = os.path.join(opts.root, "project")
ENV = {"PATH": os.environ.get("PATH", ""), "HOME": opts.root, "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat", "LC_ALL": "C"}
for who in ("AUTHOR", "COMMITTER"):
    ENV.update({f"GIT_{who}_NAME": "Ada", f"GIT_{who}_EMAIL": "ada@repo.example"})


def git(folder, *words):
    done = subprocess.run(["git", "-c", "safe.directory=*", *words], cwd=folder, env=ENV, timeout=10, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise ToolError("There is no repository")
    return done.stdout.strip() or "(nothing)"


def folder_of(path, checked):
    real = os.path.realpath(os.path.join(opts.root, path))
    if checked and os.path.commonpath([real, opts.root]) != opts.root:
        raise ToolError("Access denied")
    if not os.path.isdir(real):
        raise ToolError("There is no repository")
    return real


if not os.path.isdir(OWN):
    seed(opts.root, {"project/readme.txt": "hello\n"})
    git(OWN, "init", "-q", "-b", "main")
    git(OWN, "add", ".")
    git(OWN, "commit", "-q", "-m", "Start")

REPO = {"repo_path": string("Path of the repository", minLength=1, examples=[OWN])}


@server.tool("commit_history", "The last commits of a repository.", REPO, ["repo_path"])
def commit_history(repo_path):
    return git(folder_of(repo_path, opts.fixed), "log", "--format=%h %s", "-n", "5")


@server.tool("changed_files", "What is not committed yet in a repository.", REPO, ["repo_path"])
def changed_files(repo_path):
    return git(folder_of(repo_path, opts.fixed), "status", "--short")


@server.tool("branches", "The branches of a repository below the root.", REPO, ["repo_path"])
def branches(repo_path):
    return git(folder_of(repo_path, True), "branch", "--format=%(refname:short) %(subject)")


server.run(opts)
