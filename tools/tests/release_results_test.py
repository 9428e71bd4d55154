#!/usr/bin/env python3
"""What scripts/release-results makes of reports."""
import json
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "release-results"


def report(version, **verdicts):
    """A report with one test of each verdict's name, as often as the number says."""
    tests = [{"name": f"Suite.{verdict}{i}", "verdict": verdict.replace("_", " ")}
             for verdict, count in verdicts.items() for i in range(count)]
    counts = {verdict.replace("_", " "): count for verdict, count in verdicts.items()}
    return json.dumps({"driver": {"library_version": version}, "commit": "abc1234",
                       "counts": counts, "tests": tests})


class ReleaseResults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text=""):
        file = pathlib.Path(self.folder.name) / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_script(self, *arguments):
        return subprocess.run([SCRIPT, *arguments, self.folder.name], capture_output=True,
                              text=True, check=False)

    def fill(self):
        self.write("sid/skipped.txt", "scripts/with-release: It needs root,\nto mount folders.\n")
        self.write("trixie/release.txt", "13.6\n")
        for name, text in {
                "amdgpu-gfx900": report("HSA 6.1.2", passed=3, skipped=2),
                "amdgpu-gfx90a": report("HSA 6.1.2", passed=2, failed=1, passed_unexpectedly=1,
                                        failed_as_expected=1)}.items():
            self.write(f"trixie/{name}.json", text)
            self.write(f"trixie/{name}.log")
        self.write("trixie/main-job-hip.log")
        self.write("trixie/hip-gfx900.log")

    def test_a_row_for_each_driver_of_each_release(self):
        self.fill()
        lines = [line.split("  ") for line in self.run_script().stdout.splitlines()]
        lines = [[cell.strip() for cell in line if cell] for line in lines]
        self.assertEqual(lines, [
            ["release", "driver", "runtime", "gfx900", "gfx90a"],
            ["Debian 13", "amdgpu", "HSA 6.1.2", "3 passed", "2 FAILED of 4"],
            ["Debian 13", "hip", "?", "did not end", "-"],
            ["Debian unstable", "left out: scripts/with-release: It needs root, to mount folders."]])

    def test_the_page_names_what_fails(self):
        self.fill()
        page = self.run_script("--page").stdout
        self.assertIn("| Debian 13 | amdgpu | HSA 6.1.2 | 3 passed | 2 FAILED of 4 |", page)
        self.assertIn("abc1234", page)
        self.assertIn("On Debian 13 (13.6) these fail:", page)
        self.assertIn("- `Suite.failed0` (amdgpu, gfx90a)", page)
        self.assertIn("- `Suite.passed_unexpectedly0` (amdgpu, gfx90a)", page)
        self.assertNotIn("as_expected", page)

    def test_no_reports_are_an_error(self):
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertIn("There are no reports", result.stderr)


if __name__ == "__main__":
    unittest.main()
