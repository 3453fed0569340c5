"""The pytest plugin, in a pytest of its own."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import PRACTICE
from test_runs import suite


def run(folder, *words):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
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

PRACTICE = {PRACTICE!r}

@pytest.mark.mcp_server(*PRACTICE)
def test_server(mcp_server):
    assert mcp_server.list_tools()

def test_no_server(mcp_server):
    pass

def test_suite(suite):
    assert suite({suite("completed")!r}).success

def test_attack(redteam):
    redteam(*PRACTICE, "--vulnerable", plugins=["sql-injection"], budget_seconds=60)
""")
    done = run(tmp_path)
    assert "1 failed, 2 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "SQL injection" in done.stdout


def test_junit_and_several_workers(tmp_path):
    pytest.importorskip("xdist")
    for number in range(3):
        (tmp_path / f"test_{number}.quintain.yaml").write_text(json.dumps(suite("completed" if number else "no such status")))
    (tmp_path / "quintain.yaml").write_text(json.dumps(suite("completed")))
    done = run(tmp_path, "-n", "2", "--junitxml=junit.xml")
    assert "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    report = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (report.get("tests"), report.get("failures")) == ("4", "1")
    failure = next(report.iter("failure"))
    assert "no such status" in failure.text and "test_0.quintain.yaml:1" in failure.text
    assert {(item.get("name"), item.get("value")) for item in report.iter("property")} == {("tests", "1"), ("passed", "1"), ("passed", "0")}


def test_a_suite_that_cannot_be_read_is_one_failure(tmp_path):
    (tmp_path / "quintain.yaml").write_text("tests: [")
    done = run(tmp_path)
    assert "1 failed" in done.stdout and "quintain.yaml:1" in done.stdout, done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_options_name_the_server_and_the_attacks(tmp_path):
    (tmp_path / "test_attack.py").write_text("def test_attack(redteam, mcp_server):\n    assert mcp_server.list_tools()\n    redteam()\n")
    server = " ".join([*PRACTICE, "--vulnerable"])
    options = [f"--quintain-server={server}", "--quintain-plugins=sql-injection", "--quintain-budget-seconds=60"]
    done = run(tmp_path, *options)
    assert "SQL injection" in done.stdout and "findings of severity low or above" in done.stdout, done.stdout + done.stderr
    assert run(tmp_path, *options, "--quintain-fail-on=never").returncode == 0
    listed = run(tmp_path, "--help").stdout
    for option in ("--quintain-server", "--quintain-judge", "--quintain-fail-on", "--quintain-no-suites"):
        assert option in listed


def test_a_failed_assertion_shows_the_finding_and_no_stack(tmp_path):
    (tmp_path / "test_case.py").write_text("""
from quintain import assert_test
from quintain.metrics import MCPUseMetric
from quintain.test_case import LLMTestCase, MCPServer, MCPToolCall

def test_it():
    assert_test(LLMTestCase("q", "a", mcp_servers=[MCPServer(available_tools=[])], mcp_tools_called=[MCPToolCall("invented")]), [MCPUseMetric])
""")
    done = run(tmp_path)
    assert "tool.unknown at call 0" in done.stdout and "invented" in done.stdout
    assert "evaluation.py" not in done.stdout
