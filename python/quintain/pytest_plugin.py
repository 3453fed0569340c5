"""The pytest plugin: suites as test items, and fixtures for servers, suites and attacks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ._quintain import QuintainError

if TYPE_CHECKING:
    from .client import Session
    from .suite import CaseResult, RedteamResult, SuiteResult

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options `--quintain-*`."""
    group = parser.getgroup("quintain")
    group.addoption("--quintain-server", metavar="COMMAND|URL", help="server of the fixtures mcp_server and redteam")
    group.addoption("--quintain-judge", metavar="MODEL", help="judge of suites, for example openai:chat:gpt-5")
    group.addoption("--quintain-fail-on", metavar="SEVERITY", default="low", help="severity that fails the fixture redteam, or `never` [default: low]")
    group.addoption("--quintain-plugins", metavar="NAMES", help="attacks of the fixture redteam, separated by commas")
    group.addoption("--quintain-budget-seconds", metavar="N", type=int, help="time limit of the fixture redteam")
    group.addoption("--quintain-concurrency", metavar="N", type=int, help="tests of a suite that run in parallel")
    group.addoption("--quintain-no-suites", action="store_true", help="do not collect suites")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects `quintain.yaml` and `test_*.quintain.yaml`."""
    name = file_path.name
    is_suite = name in ("quintain.yaml", "quintain.yml") or (name.startswith("test_") and name.endswith((".quintain.yaml", ".quintain.yml")))
    if not is_suite or parent.config.getoption("--quintain-no-suites"):
        return None
    collected: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
    return collected


class SuiteFile(pytest.File):
    """A suite: one item, which runs its tests concurrently and reports each that failed."""

    def collect(self) -> Iterator[pytest.Item]:
        yield SuiteItem.from_parent(self, name="suite")


class SuiteItem(pytest.Item):
    """A run of a suite. One item for the whole file keeps the tests of a suite together on one worker."""

    def runtest(self) -> None:
        from .suite import Suite

        judge = self.config.getoption("--quintain-judge")
        result = Suite(self.path).run(
            judge=judge, concurrency=self.config.getoption("--quintain-concurrency"), show_progress=False
        )
        # JUnit and other reports show them as properties of the item.
        self.user_properties.append(("tests", len(result.cases)))
        self.user_properties.append(("passed", result.passed))
        failed = [case for case in result.cases if not case.success]
        if result.unreachable or failed or not result.cases:
            raise SuiteFailure(result, failed)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        # Problems of a suite or a target are the user's, so the stack of this plugin says nothing.
        if isinstance(excinfo.value, (SuiteFailure, QuintainError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"suite {self.path.name}"


class SuiteFailure(Exception):
    """A suite with tests that failed."""

    def __init__(self, result: SuiteResult, failed: list[CaseResult]) -> None:
        lines = [*result.unreachable, *(case.describe() for case in failed)]
        if not result.cases and not result.unreachable:
            lines.append("the suite has no tests")
        lines.append(f"{len(failed)} of {len(result.cases)} tests failed")
        super().__init__("\n".join(lines))


@pytest.fixture
def mcp_server(request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session with the server of `--quintain-server`, or of `@pytest.mark.mcp_server("command", "argument")`."""
    from .client import connect

    command, options = _server(request)
    with connect(*command, **options) as session:
        yield session


def _server(request: pytest.FixtureRequest) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The server of a test: its marker, else the option."""
    marker = request.node.get_closest_marker("mcp_server")
    if marker is not None:
        return marker.args, dict(marker.kwargs)
    named = str(request.config.getoption("--quintain-server") or "")
    if not named:
        pytest.skip("no server: use --quintain-server or @pytest.mark.mcp_server")
    return ((), {"url": named}) if "://" in named else (tuple(shlex.split(named)), {})


@pytest.fixture
def suite(request: pytest.FixtureRequest) -> Callable[..., SuiteResult]:
    """Runs a suite that is named relative to the test file, and fails the test if one of its tests fails.

    With `check=False` it only returns the result.
    """
    from .suite import Suite

    def run(source: str | Path | dict[str, Any] = "quintain.yaml", *, check: bool = True, **options: Any) -> SuiteResult:
        __tracebackhide__ = True
        found = source if isinstance(source, dict) else request.path.parent / source
        options.setdefault("concurrency", request.config.getoption("--quintain-concurrency"))
        options.setdefault("judge", request.config.getoption("--quintain-judge"))
        result = Suite(found).run(show_progress=False, **options)
        failed = [case for case in result.cases if not case.success]
        if not result.success and check:
            pytest.fail(str(SuiteFailure(result, failed)), pytrace=False)
        return result

    return run


@pytest.fixture
def redteam(request: pytest.FixtureRequest) -> Callable[..., RedteamResult]:
    """Attacks a server, and fails the test if a finding reaches `--quintain-fail-on`.

    Without arguments it attacks the server of `--quintain-server`, or of the marker `mcp_server`.
    """
    from .suite import redteam as attack

    def run(*command: Any, **options: Any) -> RedteamResult:
        __tracebackhide__ = True
        fail_on = str(options.pop("fail_on", None) or request.config.getoption("--quintain-fail-on"))
        if not command and "url" not in options:
            command, known = _server(request)
            options = {**known, **options}
        names = request.config.getoption("--quintain-plugins")
        if names and "plugins" not in options and "attacks" not in options:
            options["plugins"] = [name.strip() for name in str(names).split(",")]
        options.setdefault("budget_seconds", request.config.getoption("--quintain-budget-seconds"))
        result = attack(*command, **options)
        severe = [] if fail_on == "never" else result.at_least(fail_on)
        if severe:
            pytest.fail("\n".join([*map(str, severe), f"{len(severe)} findings of severity {fail_on} or above"]), pytrace=False)
        return result

    return run


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", "mcp_server(*command, **options): the server of the fixture mcp_server")
