"""Bad input ends in an exception that names the field; the interpreter survives, in threads, forks and sub-interpreters."""

import subprocess
import sys

import pytest

from quintain import evaluate
from quintain.metrics import BaseMetric, MCPUseMetric
from quintain.test_case import ConversationalTestCase, LLMTestCase, MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall, ToolCall, Turn


class Rude:
    """Raises whatever it is asked."""

    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__


def cyclic_dict():
    value = {}
    value["self"] = value
    return value


def cyclic_list():
    value = []
    value.append(value)
    return {"list": value}


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


VALUES = {
    "cyclic dict": (cyclic_dict, "contains itself"),
    "cyclic list": (cyclic_list, "contains itself"),
    "NaN": (lambda: {"x": float("nan")}, "not a JSON number"),
    "infinity": (lambda: {"x": float("-inf")}, "not a JSON number"),
    "generator": (lambda: {"x": (n for n in [1])}, "make a list of it"),
    "object": (lambda: {"x": object()}, "cannot be written as JSON"),
    "raises in repr": (lambda: {"x": Rude()}, "a Rude cannot be written"),
    "key that is no string": (lambda: {(1, 2): 3}, "keys must be strings"),
    "function": (lambda: {"x": print}, "cannot be written as JSON"),
    "a hundred thousand levels": (lambda: deep(100_000), "nested more than"),
    "hundred and fifty levels": (lambda: deep(150), "nested more than"),
    "number of many digits": (lambda: {"x": 10**5000}, "more than 4,000 digits"),
}


@pytest.mark.parametrize("make, why", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("field", ["args", "result"])
def test_values_that_are_no_json(make, why, field):
    value = make()
    call = MCPToolCall("t", value, {}) if field == "args" else MCPToolCall("t", {}, value)
    with pytest.raises((TypeError, ValueError), match=why) as raised:
        evaluate([LLMTestCase("q", "a"), LLMTestCase("q", "a", mcp_tools_called=[call])], [MCPUseMetric])
    assert f"test_cases[1].mcp_tools_called[0].{field}" in str(raised.value)


WRONG = {
    "LLMTestCase.input": [lambda: LLMTestCase(input=3), lambda: LLMTestCase(input=None), lambda: LLMTestCase(input=Rude())],
    "LLMTestCase.actual_output": [lambda: LLMTestCase("q", ["a"])],
    "LLMTestCase.context": [lambda: LLMTestCase("q", context="text")],
    "LLMTestCase.token_cost": [lambda: LLMTestCase("q", token_cost="much")],
    "LLMTestCase.tools_called[0]": [lambda: LLMTestCase("q", tools_called=[3]), lambda: LLMTestCase("q", tools_called=[Rude()])],
    "LLMTestCase.expected_tools": [lambda: LLMTestCase("q", expected_tools="search")],
    "LLMTestCase.mcp_servers": [lambda: LLMTestCase("q", mcp_servers="notes"), lambda: LLMTestCase("q", mcp_servers=MCPServer())],
    "LLMTestCase.mcp_tools_called[0]: name": [lambda: LLMTestCase("q", mcp_tools_called=[{"args": {}}])],
    "MCPServer.available_tools": [lambda: MCPServer(available_tools="add"), lambda: MCPServer(available_tools=(n for n in []))],
    "MCPServer.available_tools[1]": [lambda: MCPServer(available_tools=[{"name": "add"}, "note"])],
    "MCPServer.server_name": [lambda: MCPServer(server_name=...)],
    "MCPToolCall.name": [lambda: MCPToolCall(3), lambda: MCPToolCall(...)],
    "MCPToolCall.args": [lambda: MCPToolCall("t", [1]), lambda: MCPToolCall("t", "..."), lambda: MCPToolCall("t", 3)],
    "MCPResourceCall.uri": [lambda: MCPResourceCall(3), lambda: MCPResourceCall(None)],
    "MCPPromptCall.args": [lambda: MCPPromptCall("p", args=[1])],
    "ToolCall.input_parameters": [lambda: ToolCall("t", input_parameters=[1])],
    "Turn.role": [lambda: Turn("robot", "x"), lambda: Turn(Rude(), "x")],
    "Turn.content": [lambda: Turn("user", 3)],
    "ConversationalTestCase.turns": [lambda: ConversationalTestCase([]), lambda: ConversationalTestCase("x")],
    "ConversationalTestCase.turns[0]": [lambda: ConversationalTestCase([3])],
    "test_cases": [lambda: evaluate(3), lambda: evaluate("x"), lambda: evaluate(LLMTestCase("q"))],
    "test_cases[0]": [lambda: evaluate([Rude()]), lambda: evaluate([LLMTestCase])],
    "metrics[0]": [lambda: evaluate([], [3]), lambda: evaluate([], [int]), lambda: evaluate([], [Rude()])],
    "metrics": [lambda: evaluate([], MCPUseMetric())],
    "threshold": [lambda: MCPUseMetric(threshold="half"), lambda: MCPUseMetric(threshold=float("nan")), lambda: MCPUseMetric(2)],
    "treshold": [lambda: MCPUseMetric(treshold=0.5)],
    "mcp_servers[0]": [lambda: evaluate([], mcp_servers=[3])],
    "fail_if": [lambda: evaluate([], fail_if={"x": float("nan")})],
}


@pytest.mark.parametrize("field, wrong", [(field, wrong) for field, many in WRONG.items() for wrong in many])
def test_errors_name_the_field(field, wrong):
    with pytest.raises((TypeError, ValueError)) as raised:
        wrong()
    assert field in str(raised.value)


def test_what_looks_odd_and_is_fine():
    assert evaluate([LLMTestCase("lone \ud800 surrogate", "a")]).success
    assert evaluate([LLMTestCase("nul \0 and \x1b[31m", "a")]).success
    assert evaluate(case for case in [LLMTestCase("q", "a")]).success
    assert evaluate([]).test_results == []
    assert MCPToolCall("t", '{"a": 1}').args == {"a": 1}
    assert evaluate([LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("t", {"x": {1, 2}, "y": b"z", 3: 4})])]) is not None


def test_huge_strings():
    huge = "x" * 50_000_000
    assert evaluate([LLMTestCase("q", huge)]).success


def test_shared_values_are_not_cycles():
    shared = {"a": [1]}
    assert evaluate([LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("t", {"x": shared, "y": [shared, shared]})])]) is not None


def test_control_characters_are_shown_and_not_sent_to_the_terminal():
    case = LLMTestCase("q", "a", name="\x1b[31mred\u202e", mcp_servers=[MCPServer(available_tools=[])], mcp_tools_called=[MCPToolCall("\x1b[2J<b>", {})])
    result = evaluate([case], [MCPUseMetric])
    for text in (str(result), repr(result), repr(result.test_results[0]), result._repr_html_(), result.test_results[0].describe()):
        assert "\x1b" not in text and "\u202e" not in text
    assert "<b>" not in result._repr_html_()


BEGIN = """
import sys, quintain
from quintain import evaluate
from quintain.metrics import *
from quintain.test_case import *
def work(**options):
    calls = [MCPToolCall("t", {}, {})]
    case = LLMTestCase("q", "a", mcp_servers=[MCPServer(available_tools=[{"name": "t", "inputSchema": {"type": "object"}}])], mcp_tools_called=calls)
    return evaluate([case], [MCPUseMetric(**options)]).test_results[0].metrics_data[0].score
"""

THREADS = """
import threading
scores = []
threads = [threading.Thread(target=lambda: scores.append(work())) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert scores == [1.0] * 16, scores
"""

FORK = """
import os, signal
judge = lambda prompt: '{"score": 1, "reason": "x"}'
async def slow(prompt): return judge(prompt)
work(model=slow)
child = os.fork()
if child == 0:
    signal.alarm(60)
    fine = work() == 1.0 and work(model=judge) == 1.0 and work(model=slow) == 1.0
    os._exit(0 if fine else 4)
assert os.waitpid(child, 0)[1] == 0
"""

FORK_WITH_A_SESSION = """
import os, signal
session = quintain.connect(sys.executable, "-m", "quintain", "demo", "--stdio")
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        session.list_tools()
    except quintain.QuintainError as error:
        assert "connect again after a fork" in str(error)
        with quintain.connect(sys.executable, "-m", "quintain", "demo", "--stdio") as own:
            os._exit(0 if own.list_tools() else 5)
    os._exit(4)
assert os.waitpid(child, 0)[1] == 0
assert session.list_tools()
session.close()
"""

POOL = """
import multiprocessing
def one(number): return work()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(one, range(4)) == [1.0] * 4
"""

SUB_INTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _testcapi
        interpreters = None
code = '''
try:
    import quintain
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    from quintain.test_case import LLMTestCase
    assert quintain.evaluate([LLMTestCase("q", "a")]).success
'''
if interpreters is None:
    assert _testcapi.run_in_subinterp(code) == 0
else:
    failed = interpreters.run_string(interpreters.create(), code)
    assert failed is None, failed
assert work() == 1.0
"""

INTERRUPTED = """
import os, signal
class Interrupts(BaseMetric):
    def measure(self, case):
        raise KeyboardInterrupt
try:
    evaluate([LLMTestCase("q", "a")], [Interrupts])
except KeyboardInterrupt:
    assert work() == 1.0
else:
    raise AssertionError("not raised")
def judge(prompt):
    os.kill(os.getpid(), signal.SIGINT)
    return '{"score": 1, "reason": "x"}'
try:
    work(model=judge)
except KeyboardInterrupt:
    pass
else:
    raise AssertionError("not raised")
"""

EXITS_WHILE_A_SESSION_IS_OPEN = """
session = quintain.connect(sys.executable, "-m", "quintain", "demo", "--stdio")
assert session.list_tools()
"""

PROGRAMS = {
    "threads": THREADS, "fork": FORK, "fork with a session": FORK_WITH_A_SESSION, "pool": POOL, "sub-interpreter": SUB_INTERPRETER,
    "interrupted": INTERRUPTED, "exit with an open session": EXITS_WHILE_A_SESSION_IS_OPEN,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_interpreter_survives(program):
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "panicked" not in done.stderr


def test_an_exception_in_a_progress_bar_or_an_own_class_is_only_that():
    class Exits(BaseMetric):
        def measure(self, test_case):
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        evaluate([LLMTestCase("q", "a")], [Exits])
