#!/usr/bin/env python3
"""Runs promptfoo over cases of the corpus and writes down its verdicts.

    record.py [--check] [NAME...]     without names: every case

A case with a file `judge` gets a scripted model, whose address is JUDGE_URL in its environment.

PROMPTFOO is the command to run; without it, target/promptfoo/node_modules/.bin/promptfoo. Node is taken from
QUINTAIN_PEER_NODE if that is set. With --check nothing is written, and a case that came out differently is named.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "crates/quintain/tests/corpus"
VERSION = "0.123.1"
WORKERS = 2
PATIENCE = 300

# What differs from run to run or from machine to machine: a name, a pattern, and what takes its place.
VOLATILE = [
    ("traceback", re.compile(r"\n\s*--Python Traceback: --.*", re.DOTALL), ""),
    ("stack", re.compile(r"\n+(?:\s+at [^\n]*(?:\n|$))+"), "\n"),
    ("latency", re.compile(r"Latency \d+ms"), "Latency <n>ms"),
    ("duration", re.compile(r"\((max: )?\d+(?:\.\d+)?ms\)"), r"(\1<n>ms)"),
    ("temporary path", re.compile(r"/[^\s'\"]*promptfoo-python-code-[^\s'\"/]*"), "<tmp>"),
    ("judge", re.compile(r"127\.0\.0\.1:\d{4,5}"), "<judge>"),
    ("bundle path", re.compile(r"(?:file://)?/[^\s'\"]*node_modules/promptfoo/dist/[^\s'\")]*"), "<bundle>"),
]


class Row:
    """Collects what was taken out of one row while it is copied."""

    def __init__(self, case):
        self.case = str(case)
        self.notes = []

    def text(self, value):
        """A text without its volatile parts."""
        if not isinstance(value, str):
            return value
        before = value
        for name, pattern, instead in VOLATILE:
            value, count = pattern.subn(instead, value)
            self.note(name, count)
        self.note("case folder", value.count(self.case))
        value = value.replace(self.case, "<case>")
        return value if value == before else value.rstrip("\n")

    def note(self, name, count):
        if count and name not in self.notes:
            self.notes.append(name)

    def deep(self, value):
        """The same for everything below a value."""
        if isinstance(value, dict):
            return {key: self.deep(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.deep(item) for item in value]
        return self.text(value)


def grading(row, result):
    if result is None:
        return None
    reduced = {key: row.text(result.get(key)) for key in ("pass", "score", "reason")}
    components = result.get("componentResults")
    if components is not None:
        reduced["componentResults"] = [component(row, item) for item in components]
    return reduced


def component(row, item):
    if item is None:
        return None
    assertion = item.get("assertion")
    return {
        **{key: row.text(item.get(key)) for key in ("pass", "score", "reason")},
        "assertion": {"type": assertion.get("type")} if assertion else None,
    }


def verdict(case, result):
    row = Row(case)
    reduced = {
        "testIdx": result["testIdx"],
        "promptIdx": result["promptIdx"],
        "provider": {key: row.text(result["provider"].get(key)) for key in ("id", "label")},
        "description": row.text(result["testCase"].get("description")),
        "vars": row.deep(result.get("vars")),
        "prompt": {"raw": row.text(result["prompt"]["raw"])},
        "success": result["success"],
        "score": result["score"],
        "failureReason": result["failureReason"],
        "error": row.text(result.get("error")),
        "namedScores": result.get("namedScores"),
        "response": {"output": row.deep((result.get("response") or {}).get("output"))},
        "gradingResult": grading(row, result.get("gradingResult")),
    }
    if row.notes:
        reduced["normalised"] = row.notes
    return reduced


def metrics(case, prompt):
    row = Row(case)
    return {
        "provider": row.text(prompt["provider"]),
        "label": row.text(prompt["label"]),
        "namedScores": prompt["metrics"]["namedScores"],
    }


def lines(path):
    return path.read_text(encoding="utf-8").split("\n") if path.exists() else []


def complaint(case, log):
    """The first line of the exception that ended a run, if one did."""
    found = re.search(r"^(?:\w*Error: |✗ )?(?:\[\w+\] )?(\w*Error: .*)$", log, re.MULTILINE)
    return Row(case).text(found.group(1)) if found else None


@contextmanager
def judge(case):
    """The address of a scripted model, if the case asks for one."""
    if not (case / "judge").exists():
        yield None
        return
    script = [sys.executable, str(CORPUS / "judge.py")]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def run(case):
    """What promptfoo says about one case."""
    with judge(case) as address:
        return run_with(case, address)


def run_with(case, address):
    arguments = [line for line in lines(case / "args") if line] or ["-c", "promptfooconfig.yaml"]
    with tempfile.TemporaryDirectory(prefix="corpus-") as scratch:
        output = Path(scratch) / "out.json"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": scratch,
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PROMPTFOO_CONFIG_DIR": scratch,
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
            "PROMPTFOO_INLINE_MEDIA": "1",
            "PROMPTFOO_PYTHON": "python3",
            "PYTHONDONTWRITEBYTECODE": "1",
            # One judge after the other, so that sums and reasons do not depend on who is faster.
            **({"JUDGE_URL": address, "PROMPTFOO_ASSERTIONS_MAX_CONCURRENCY": "1"} if address else {}),
            **dict(line.replace("$JUDGE_URL", address or "").split("=", 1) for line in lines(case / "env") if line),
        }
        if node := os.environ.get("QUINTAIN_PEER_NODE"):
            environment["PATH"] = f"{Path(node).parent}{os.pathsep}{environment['PATH']}"
        command = os.environ.get("PROMPTFOO", str(ROOT / "target/promptfoo/node_modules/.bin/promptfoo"))
        flags = ["--no-cache", "--no-table", "--no-progress-bar", "-o", str(output)]
        # Traces reach an assertion only through the database.
        if not (case / "traced").exists():
            flags.append("--no-write")
        done = subprocess.run(
            [command, "eval", *arguments, *flags],
            cwd=case, env=environment, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )
        if not output.exists():
            log = done.stdout + done.stderr
            refused = {"exit": done.returncode, "message": complaint(case, log), "stats": None, "prompts": [], "results": []}
            return refused, log
        whole = json.loads(output.read_text(encoding="utf-8"))
    if whole["metadata"]["promptfooVersion"] != VERSION:
        raise SystemExit(f"this is promptfoo {whole['metadata']['promptfooVersion']}, not {VERSION}")
    results = [verdict(case, result) for result in whole["results"]["results"]]
    results.sort(key=lambda row: (row["testIdx"], row["promptIdx"], row["provider"]["label"] or row["provider"]["id"]))
    stats = whole["results"]["stats"]
    return {
        "exit": done.returncode,
        "stats": {key: stats[key] for key in ("successes", "failures", "errors")},
        "prompts": [metrics(case, prompt) for prompt in whole["results"]["prompts"]],
        "results": results,
    }, done.stdout + done.stderr


def record(case, check):
    expected, log = run(case)
    path = case / "expected.json"
    new = json.dumps(expected, indent=1, ensure_ascii=False) + "\n"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if not check:
        path.write_text(new, encoding="utf-8")
    state = "same" if new == old else "different" if old else "new"
    return case.name, state, expected, log


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    names = [name for name in arguments if not name.startswith("--")]
    cases = [CORPUS / name for name in names] or sorted(path.parent for path in CORPUS.glob("*/promptfooconfig.yaml"))
    worst, rows = 0, 0
    with ThreadPoolExecutor(WORKERS) as pool:
        for name, state, expected, log in pool.map(lambda case: record(case, check), cases):
            rows += len(expected["results"])
            stats = expected["stats"]
            print(f"{state:9} {name}: {list(stats.values()) if stats else 'no result'}, exit {expected['exit']}", flush=True)
            if stats is None:
                told = [line for line in log.split("\n") if line.strip() and not line.lstrip().startswith("at ")]
                print("    " + "\n    ".join(told[-12:]))
            if check and state != "same":
                worst = 1
    print(f"{rows} rows in {len(cases)} cases")
    return worst


if __name__ == "__main__":
    sys.exit(main())
