"""pytest plugin of tests/run: writes each test's start and outcome to a file as it happens, so that
a process that dies takes no result with it, and leaves out what an earlier process already ran."""
import json
import os


def _path():
    return os.environ["TERRAZZO_TEST_RECORD"]


def _write(test, outcome, text=""):
    with open(_path(), "a", encoding="utf-8") as out:
        out.write(json.dumps(dict(test=test, outcome=outcome, text=text)) + "\n")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: run by `make test-all` only")


def pytest_collection_modifyitems(config, items):
    with open(_path(), encoding="utf-8") as done:
        seen = {json.loads(line)["test"] for line in done}
    items[:] = [item for item in items if item.nodeid not in seen]


def pytest_collectreport(report):
    if report.failed:
        _write(report.nodeid or "collection", "failed", str(report.longrepr))


def pytest_runtest_logstart(nodeid, location):
    _write(nodeid, "started")


def pytest_runtest_logreport(report):
    if report.failed:
        _write(report.nodeid, "failed", report.longreprtext + "\n" + report.capstderr)
    elif report.skipped:
        _write(report.nodeid, "skipped")
    elif report.when == "call":
        _write(report.nodeid, "passed")
