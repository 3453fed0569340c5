"""The pytest plugin, in a pytest of its own."""

import json
import os
import subprocess
import sys

from test_runs import ENV, PRACTICE, suite


def run(folder, *words):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "quintain.pytest_plugin", *words]
    env = {**os.environ, **ENV, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def test_suites_are_collected_and_failures_name_the_assertion(tmp_path):
    (tmp_path / "test_good.quintain.yaml").write_text(json.dumps(suite("completed")))
    (tmp_path / "test_bad.quintain.yaml").write_text(json.dumps(suite("no such status")))
    (tmp_path / "other.yaml").write_text("not: a suite")
    done = run(tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert 'contains: Expected output to contain "no such status"' in done.stdout
    assert "1 of 1 tests failed" in done.stdout
    assert run(tmp_path, "--quintain-no-suites").returncode == 5


def test_fixtures(tmp_path):
    (tmp_path / "test_fixtures.py").write_text(f"""
import pytest

PRACTICE, ENV = {PRACTICE!r}, {ENV!r}

@pytest.mark.mcp_server(*PRACTICE, env=ENV)
def test_server(mcp_server):
    assert mcp_server.list_tools()

def test_no_server(mcp_server):
    pass

def test_suite(suite):
    assert suite({suite("completed")!r}).success

def test_attack(redteam):
    redteam(*PRACTICE, "--vulnerable", env=ENV, plugins=["sql-injection"], budget_seconds=60)
""")
    done = run(tmp_path)
    assert "1 failed, 2 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "SQL injection" in done.stdout
