#!/usr/bin/env python3
"""What scripts/count-tests makes of JUnit reports."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "count-tests"
SKIP = '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
FAILURE = '<failure message=""/>'


def entry(name, body="", output=""):
    """A test case of ctest's report."""
    status = "fail" if "failure" in body else "notrun" if body else "run"
    return f'<testcase name="{name}" status="{status}">{body}<system-out>{output}</system-out></testcase>'


def case(test, body=""):
    """A test case of the conformance suite's report."""
    suite, name = test.split(".")
    return f'<testcase classname="{suite}" name="{name}">{body}</testcase>'


class CountTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("skips", "# a comment\na_test.*  no compiler\n")

    def write(self, name, text):
        file = pathlib.Path(self.folder.name) / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def report(self, name, *cases):
        return self.write(name, f"<testsuite>{''.join(cases)}</testsuite>")

    def count(self, *reports):
        skips = f"{self.folder.name}/skips"
        done = subprocess.run([SCRIPT, "--skips", skips, *reports], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stdout + done.stderr
        return done.stdout.splitlines()[-2:]

    def test_a_test_counts_once_however_many_configurations_it_has(self):
        report = self.report("tests.xml", entry("cts.amdgpu.A.B"), entry("cts.hip.A.B"), entry("mlir.add.hip.gfx900"),
                             entry("mlir.add.amdgpu.gfx90a"), entry("hal_test.C.D"), entry("other_test.C.D"))
        self.assertEqual(self.count(report), ["4 tests in 5 configurations: 6 runs", "4 passed, 0 failed, 0 skipped"])

    def test_one_failure_is_a_failure_and_one_pass_outweighs_a_skip(self):
        skipped = "halyard-cts: SKIPPED A.C: one GPU"
        report = self.report("tests.xml", entry("cts.amdgpu.A.B"), entry("cts.hip.A.B", FAILURE),
                             entry("cts.amdgpu.A.C", SKIP, skipped), entry("cts.hip.A.C"),
                             entry("cts.hip.A.D", SKIP, "halyard-cts: SKIPPED A.D: no heap"))
        self.assertEqual(self.count(report), ["3 tests in 2 configurations: 5 runs", "1 passed, 1 failed, 1 skipped"])
        self.assertIn("failed: halyard-cts A.B\n", self.said)
        self.assertIn("1 skipped: no heap\n", self.said)

    def test_a_run_of_the_whole_suite_is_the_tests_of_its_report(self):
        self.report("suite-reports/cts.hip.on_gfx90a.xml", case("A.B"), case("A.C", '<skipped message="why"/>'))
        report = self.report("tests.xml", entry("cts.amdgpu.A.B"), entry("cts.hip.on_gfx90a"))
        self.assertEqual(self.count(report), ["2 tests in 2 configurations: 3 runs", "1 passed, 0 failed, 1 skipped"])
        # It crashed when its report was written, or did not come so far.
        report = self.report("tests.xml", entry("cts.hip.on_gfx90a", FAILURE), entry("cts.amdgpu.on_mixed", FAILURE))
        self.assertEqual(self.count(report)[1], "1 passed, 2 failed, 1 skipped")

    def test_the_suites_own_reports_are_configurations(self):
        reports = [self.report(f"{i}.xml", case("A.B"), case("A.C")) for i in range(3)]
        self.assertEqual(self.count(*reports), ["2 tests in 3 configurations: 6 runs", "2 passed, 0 failed, 0 skipped"])

    def test_a_skip_wants_an_expectation(self):
        report = self.report("tests.xml", entry("a_test.A.B", SKIP), entry("b_test.A.B", SKIP))
        self.assertEqual(self.count(report)[1], "0 passed, 1 failed, 1 skipped")
        self.assertIn("b_test.A.B is skipped, and no line of the expectations names it.", self.said)
        self.assertIn("1 skipped: no compiler\n", self.said)

    def test_a_program_that_does_not_start_has_failed(self):
        report = self.report("tests.xml", entry("a_test.A.B", '<skipped message="Unable to find executable"/>'))
        self.assertEqual(self.count(report)[1], "0 passed, 1 failed, 0 skipped")

    def test_parameters_without_a_name_are_told_apart(self):
        cases = [entry(f"a_test.A.B/8-byte object &lt;{address}&gt;") for address in ("00-01", "00-02")]
        again = self.report("more/tests.xml", *[text.replace("00-0", "55-0") for text in cases])
        self.assertEqual(self.count(self.report("tests.xml", *cases), again)[0], "2 tests in 2 configurations: 4 runs")

    def test_every_line_of_the_expectations_has_a_reason(self):
        lines = (SCRIPT.parent / "expected-skips").read_text(encoding="utf-8").splitlines()
        for line in lines:
            words = line.split("#")[0].split()
            self.assertNotEqual(len(words), 1, f"({line}) gives no reason")


if __name__ == "__main__":
    unittest.main()
