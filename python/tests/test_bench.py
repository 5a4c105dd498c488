"""bench/bench.py measures a few rows, writes its page, and compares two runs."""
import json
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "bench.py"


def bench(*arguments):
    done = subprocess.run([sys.executable, BENCH, *map(str, arguments)], text=True,
                          capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bench(tmp_path):
    names = ["product 64", "count to 10000", "all-reduce 64 B", "2^10", "2^12"]
    out = bench("--turns", 1, "--seconds", 0.01, "--output", tmp_path, *names)
    report = json.loads((tmp_path / "bench.json").read_text())
    assert [row["name"] for row in report["rows"]] == [
        "product 64", "count to 10000", "product 64", "all-reduce 64 B", "2^10 elements",
        "2^12 elements"], out
    for row in report["rows"]:
        assert 0 < row["terrazzo"]["best"] <= row["terrazzo"]["median"]
        assert row["difference"] < 1e-4
    text = (tmp_path / "bench.html").read_text()
    assert text.count("<svg") == 5 and "http" not in text
    again = tmp_path / "again.html"
    bench("--page", tmp_path / "bench.json", again)
    assert again.read_text() == text
    assert "6 rows, geometric mean of the change 1.000" in bench(
        "--compare", tmp_path / "bench.json", tmp_path / "bench.json")
