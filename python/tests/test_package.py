"""What `pip install` brings: the package, its types and the command line, and nothing else."""

import importlib.metadata
import subprocess
import sys
import sysconfig
from pathlib import Path

import quintain

COMMANDS = {"module": [sys.executable, "-m", "quintain"], "program": [str(Path(sysconfig.get_path("scripts")) / "quintain")]}


def run(command, *words):
    return subprocess.run([*command, *words], capture_output=True, text=True)


def test_the_command_line_is_part_of_the_package():
    for command in COMMANDS.values():
        version = run(command, "--version")
        assert (version.returncode, version.stdout.split()) == (0, ["quintain", quintain.__version__])
        assert run(command, "no-such-command").returncode == 2
        target = ["--", *command, "demo", "--stdio"]
        called = run(command, "call", "get_transaction", '{"transaction_id": "txn_123"}', *target)
        assert called.returncode == 0 and "completed" in called.stdout, called.stderr
        assert run(command, "call", "get_transaction", "{}", "--", "no-such-program").returncode == 3


def test_there_are_no_dependencies():
    assert not importlib.metadata.requires("quintain")
    assert importlib.metadata.metadata("quintain")["Requires-Python"] == ">=3.10"


def test_types_are_part_of_the_package():
    assert (Path(quintain.__file__).parent / "py.typed").is_file()
    assert not list(Path(quintain.__file__).parent.glob("**/*.pyc.*"))


def test_the_plugin_is_found_by_pytest():
    names = [point.value for point in importlib.metadata.entry_points(group="pytest11") if point.name == "quintain"]
    assert names == ["quintain.pytest_plugin"]


def test_importing_loads_nothing_large():
    program = """
import sys
import quintain, quintain.metrics, quintain.test_case
from quintain import evaluate
print(*[name for name in ("asyncio", "pydantic", "mcp", "pytest", "concurrent.futures", "urllib", "subprocess") if name in sys.modules])
"""
    assert run([sys.executable, "-S", "-c", f"import sys; sys.path.append({str(Path(quintain.__file__).parent.parent)!r})\n{program}"]).stdout == "\n"


def test_everything_that_is_exported_exists():
    for name in quintain.__all__:
        assert getattr(quintain, name) is not None
    from quintain.evaluate import AsyncConfig

    # Loading the module of that name must not hide the function.
    assert AsyncConfig and quintain.evaluate([]).success
