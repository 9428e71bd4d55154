#!/usr/bin/env python3
"""What the suite's --fidelity reports, beside the report of `halyard vgpu exec` on the same tests.

Usage: fidelity_test.py HALYARD_CTS HALYARD
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CTS, HALYARD = sys.argv[1:3]
TESTS = ["--device=amdgpu", "--filter=*VectorAdd.AddsNumbers/vadd_c_v6", "--gtest_brief=1"]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


class Fidelity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report_of(self, name, *words):
        ended = run(*(word.replace("FILE", str(self.folder / name)) for word in words))
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return (self.folder / name).read_text()

    def test_of_the_suite_and_of_what_runs_it_agree(self):
        own = self.report_of("own.json", CTS, "--vgpu=gfx900", "--fidelity=FILE", *TESTS)
        outer = self.report_of("outer.json", HALYARD, "vgpu", "exec", "--profile=gfx900",
                               "--fidelity=FILE", "--", CTS, *TESTS)
        report = json.loads(own)
        self.assertEqual(report, json.loads(outer))
        # A float for each of the test's work-items, in waves: the kernel's own instruction.
        adds = [line for line in report["executed"] if line["instruction"] == "v_add_f32"]
        self.assertEqual([(line["processor"], line["fidelity"]) for line in adds],
                         [("gfx900", "exact")])
        self.assertGreater(adds[0]["executed"], 0)
        self.assertEqual(report["instructions"],
                         sum(line["executed"] for line in report["executed"]))

    def test_is_text_too_and_replaces_the_file(self):
        (self.folder / "own.txt").write_text("old\n")
        text = self.report_of("own.txt", CTS, "--vgpu=gfx900", "--fidelity=FILE", *TESTS)
        self.assertTrue(text.startswith("instructions that waves have executed: "), text)
        self.assertRegex(text, r"\n +\d+  gfx900    v_add_f32\n")

    def test_mistakes_are_said_before_a_test_runs(self):
        without = run(CTS, "--fidelity=" + str(self.folder / "none"), *TESTS)
        self.assertEqual(without.returncode, 2)
        self.assertIn("--fidelity needs the virtual GPU", without.stderr)
        nowhere = run(CTS, "--vgpu=gfx900", "--fidelity=/nonexistent/file", *TESTS)
        self.assertNotEqual(nowhere.returncode, 0)
        self.assertIn("The file (/nonexistent/file) of --fidelity cannot be written", nowhere.stderr)
        self.assertNotIn("VectorAdd", without.stdout + nowhere.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
