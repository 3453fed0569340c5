"""A git repository. Weak: lists of words instead of a shell, but values that look like options become options."""

import os
import subprocess

from mcp import Server, ToolError, options, seed, string

opts = options()
server = Server("repo", "2.0.1", strict=True)
TREE = os.path.join(opts.root, "tree")
ENV = {"PATH": os.environ.get("PATH", ""), "HOME": opts.root, "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat", "LC_ALL": "C"}
for who in ("AUTHOR", "COMMITTER"):
    ENV.update({f"GIT_{who}_NAME": "Ada", f"GIT_{who}_EMAIL": "ada@repo.example"})


def run(*words):
    done = subprocess.run(words, cwd=TREE, env=ENV, timeout=10, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise ToolError(f"{words[0]} failed with status {done.returncode}")
    return done.stdout.strip() or "(nothing)"


def revision(text):
    if text.startswith("-"):
        raise ToolError(f"Not a revision: {text}")
    return text


if not os.path.isdir(TREE):
    seed(opts.root, {"tree/readme.txt": "hello\nworld\n", "tree/names.txt": "carol\nalice\nbob\nalice\n"})
    run("git", "init", "-q", "-b", "main")
    run("git", "add", ".")
    run("git", "commit", "-q", "-m", "Start")
    run("git", "branch", "feature")


@server.tool("list_branches", "List the branches.")
def list_branches():
    return run("git", "branch", "--format=%(refname:short)")


@server.tool("git_log", "Show the last commits of a branch or revision.",
             {"ref": string("Branch, tag or commit", examples=["main"])}, ["ref"])
def git_log(ref):
    if opts.fixed:
        return run("git", "log", "--oneline", "-n", "20", "--end-of-options", revision(ref), "--")
    return run("git", "log", "--oneline", "-n", "20", ref)


@server.tool("git_diff", "Show what changed since a revision, for some files.", {
    "base": string("Branch, tag or commit", examples=["main"]),
    "paths": {"type": "array", "items": string("File of the repository"), "minItems": 1, "examples": [["readme.txt"]]},
}, ["base", "paths"])
def git_diff(base, paths):
    commit = run("git", "rev-parse", "--verify", "--end-of-options", revision(base) + "^{commit}")
    return run("git", "diff", commit, *(["--"] if opts.fixed else []), *paths)


@server.tool("find_files", "Find files by name; * and ? are wildcards.",
             {"name": string("Name of the file", examples=["*.txt"])}, ["name"])
def find_files(name):
    if opts.fixed:
        return run("find", ".", "-not", "-path", "*/.git*", "-name", name)
    return run(*f"find . -not -path */.git* -name {name}".split())


@server.tool("sort_file", "Print the sorted lines of a file.", {
    "file": string("Which file", enum=["names.txt", "readme.txt"]),
    "flags": {"type": "object", "description": "How to sort: reverse, unique, ignore-case", "default": {},
              "additionalProperties": {"type": "string"}, "examples": [{"reverse": ""}]},
}, ["file"])
def sort_file(file, flags=None):
    flags = flags or {}
    if opts.fixed and set(flags) - {"reverse", "unique", "ignore-case"}:
        raise ToolError("Unknown flag")
    words = [f"--{name}={value}" if value else f"--{name}" for name, value in flags.items()]
    return run("sort", *words, file)


@server.tool("git_show", "Show one commit.", {"rev": string("Branch, tag or commit", examples=["main"])}, ["rev"])
def git_show(rev):
    return run("git", "show", "--stat", "--end-of-options", revision(rev), "--")


@server.tool("git_grep", "Search the tracked files for a text.", {"text": string("Text to find", examples=["hello"])}, ["text"])
def git_grep(text):
    found = run("git", "grep", "-n", "-F", "-e", text, "--")
    return found if found != "(nothing)" else f"No line has '{text}'."


@server.tool("commits_of", "List the commits of an author.", {"author": string("Name of the author", examples=["Ada"])}, ["author"])
def commits_of(author):
    return run("git", "log", "--oneline", "-F", f"--author={author}", "--")


server.run(opts)
