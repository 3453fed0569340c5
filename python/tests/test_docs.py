"""Every block of the tutorial runs as it is printed, and so do the examples."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

TUTORIAL = REPOSITORY / "docs/tutorials/from-deepeval.md"
EXAMPLES = REPOSITORY / "examples/python"
BLOCK = re.compile(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def environment():
    """Programs of this environment first, as after `activate`."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}


def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", environment()["PATH"])
    names = {"__name__": "tutorial"}
    ran = []
    for kind, name, code in BLOCK.findall(TUTORIAL.read_text()):
        if kind == "python" and not name or name == "sdk":
            exec(compile(code, f"{TUTORIAL.name}: block {len(ran) + 1}", "exec"), names)
        elif kind == "sh":
            done = subprocess.run(["sh", "-euc", code], env=environment(), capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        else:
            Path(name).write_text(code)
        ran.append(kind)
    assert [ran.count(kind) for kind in ("python", "sh", "yaml")] == [9, 2, 1]


def test_the_readme_runs(capsys):
    for kind, _, code in BLOCK.findall((REPOSITORY / "python/README.md").read_text()):
        assert kind == "python"
        exec(code, {})
    assert "tool.unknown" in capsys.readouterr().out


@pytest.mark.parametrize("program, wanted", [
    ("evaluate_calls.py", "tool.unknown"), ("own_judge.py", "1 of 2 passed"), ("attack.py", "SQL injection"),
])
def test_the_examples_run(program, wanted):
    done = subprocess.run([sys.executable, EXAMPLES / program], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and wanted in done.stdout, done.stdout + done.stderr


def test_the_tests_of_the_example_pass(tmp_path):
    for name in ("quintain.yaml", "test_payments.py"):
        shutil.copy(EXAMPLES / name, tmp_path)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
