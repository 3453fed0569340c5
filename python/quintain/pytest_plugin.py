"""The pytest plugin: suites as test items, and fixtures for servers, suites and attacks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .client import Session
    from .suite import CaseResult, RedteamResult, SuiteResult

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options `--quintain-*`."""
    group = parser.getgroup("quintain")
    group.addoption("--quintain-server", metavar="COMMAND|URL", help="server of the fixture mcp_server: a command or a URL")
    group.addoption("--quintain-judge", metavar="MODEL", help="judge of suites, for example openai:chat:gpt-5")
    group.addoption("--quintain-fail-on", metavar="SEVERITY", default="low", help="severity that fails the fixture redteam [default: low]")
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
        result = Suite(self.path).run(judge=judge, show_progress=False)
        failed = [case for case in result.cases if not case.success]
        if result.unreachable or failed or not result.cases:
            raise SuiteFailure(result, failed)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        if isinstance(excinfo.value, SuiteFailure):
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

    marker = request.node.get_closest_marker("mcp_server")
    named = str(request.config.getoption("--quintain-server") or "")
    if marker is None and not named:
        pytest.skip("no server: use --quintain-server or @pytest.mark.mcp_server")
    if marker is not None:
        session = connect(*marker.args, **marker.kwargs)
    else:
        session = connect(url=named) if "://" in named else connect(*shlex.split(named))
    with session:
        yield session


@pytest.fixture
def suite(request: pytest.FixtureRequest) -> Callable[..., SuiteResult]:
    """Runs a suite that is named relative to the test file, and fails the test if one of its tests fails."""
    from .suite import Suite

    def run(source: str | Path | dict[str, Any], **options: Any) -> SuiteResult:
        __tracebackhide__ = True
        found = source if isinstance(source, dict) else request.path.parent / source
        options.setdefault("judge", request.config.getoption("--quintain-judge"))
        result = Suite(found).run(show_progress=False, **options)
        failed = [case for case in result.cases if not case.success]
        if not result.success:
            pytest.fail(str(SuiteFailure(result, failed)), pytrace=False)
        return result

    return run


@pytest.fixture
def redteam(request: pytest.FixtureRequest) -> Callable[..., RedteamResult]:
    """Attacks a server, and fails the test if a finding reaches `--quintain-fail-on`."""
    from .suite import redteam as attack

    def run(*command: str, **options: Any) -> RedteamResult:
        __tracebackhide__ = True
        result = attack(*command, **options)
        severe = result.at_least(str(request.config.getoption("--quintain-fail-on")))
        if severe:
            lines = [f"{finding['severity']} {finding['title']}" for finding in severe]
            pytest.fail("\n".join(lines), pytrace=False)
        return result

    return run


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", "mcp_server(*command, **options): the server of the fixture mcp_server")
