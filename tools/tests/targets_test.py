"""Tests of tools/targets.py: stale files are noticed, and so is a map that makes no sense."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAP = "config/targets.yaml"
TABLE = "hal/src/target_map_table.cpp"
FRAGMENT = "cmake/HalyardTargets.cmake"
PAGE = "docs/targets.md"


class TargetsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in (MAP, TABLE, FRAGMENT, PAGE):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, self.root / name)

    def run_generator(self, *flags):
        return subprocess.run([sys.executable, ROOT / "tools/targets.py", "--root", self.root, *flags],
                              capture_output=True, text=True, check=False)

    def replace(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        (self.root / name).write_text(text.replace(old, new, 1))

    def assert_refused(self, old, new, says):
        before = (self.root / MAP).read_text()
        self.replace(MAP, old, new)
        outcome = self.run_generator("--check")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn(says, outcome.stderr)
        self.assertTrue(outcome.stderr.startswith(MAP), outcome.stderr)
        (self.root / MAP).write_text(before)

    def test_what_is_checked_in_is_fresh(self):
        outcome = self.run_generator("--check")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("0 stale", outcome.stdout)

    def test_a_change_of_the_map_makes_every_file_stale(self):
        self.replace(MAP, "mi300x: {", "mi301x: {")
        outcome = self.run_generator("--check")
        self.assertEqual(outcome.returncode, 1)
        for name in (TABLE, FRAGMENT, PAGE):
            self.assertIn(f"{name} is not what", outcome.stderr)
        self.assertNotIn("mi301x", (self.root / TABLE).read_text())

        self.assertEqual(self.run_generator().returncode, 0)
        for name in (TABLE, FRAGMENT, PAGE):
            self.assertIn("mi301x", (self.root / name).read_text())
        self.assertEqual(self.run_generator("--check").returncode, 0)

    def test_a_change_of_a_made_file_makes_it_stale(self):
        self.replace(FRAGMENT, "  gfx942\n", "")
        outcome = self.run_generator("--check")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn(FRAGMENT, outcome.stderr)
        self.assertNotIn(TABLE, outcome.stderr)

    def test_a_made_file_that_is_missing_is_stale(self):
        (self.root / TABLE).unlink()
        self.assertEqual(self.run_generator("--check").returncode, 1)

    def test_the_page_keeps_what_people_wrote(self):
        self.replace(PAGE, "# Targets\n", "# Targets of ours\n")
        self.assertEqual(self.run_generator("--check").returncode, 0)
        self.replace(PAGE, "<!-- end -->", "<!-- fin -->")
        outcome = self.run_generator()
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("docs/targets.md: it needs one line", outcome.stderr)

    def test_a_map_that_makes_no_sense_is_refused(self):
        self.assert_refused("  gfx902:\n", "  gfx900:\n", "the key (gfx900) is given twice")
        self.assert_refused("architecture: cdna3", "arch: cdna3", "the key (arch) is unknown")
        self.assert_refused("    architecture: cdna3\n", "", "the key (architecture) is missing")
        self.assert_refused("architecture: cdna3", "architecture: cdna33", "(cdna33) is not in `architectures`")
        self.assert_refused("name: gfx12-generic", "name: gfx13-generic", "(gfx13-generic) is not in `generics`")
        self.assert_refused("since: 1", "since: 2", "(2) is outside of 1 to 1")
        self.assert_refused("0x4c", "0x4f", "its elf_machine (0x4f) is gfx942's")
        self.assert_refused("0x4c", "4c", "(4c) is no number")
        self.assert_refused("xnack: [any, on, off]", "xnack: [on]", "is neither")
        self.assert_refused("wavefront: [64]", "wavefront: [48]", "are no wavefront sizes")
        self.assert_refused("memory: 192GiB", "memory: 192GB", "(192GB) is not in GiB")
        self.assert_refused("compute_units: 304", "compute_units: many", "(many) is no number")
        self.assert_refused("mi300x: {", "mi300 A: {", "does not have the form")
        self.assert_refused("title: AMD Instinct MI300X", "title: AMD Instinct MI300A", "have this name")
        self.assert_refused("aliases: [r9070]", "aliases: [rx9070]", "rx9070: a product and a product")
        self.assert_refused("families: [dcgpu-all, gfx94X-all, gfx94X-dcgpu]", "families: [gfx94X]",
                            "does not have the form")
        self.assert_refused("architectures:", "architectures: [", "line")

    def test_a_processor_has_what_its_generic_target_has(self):
        entry = "  gfx1030:\n    elf_machine: 0x36\n    architecture: rdna2\n    generic: {name: gfx10-3-generic"
        self.assert_refused(entry, entry.replace("gfx10-3", "gfx10-1"), "gfx1030: it lacks xnack")
        entry = "generic: {name: gfx11-generic, since: 1}\n    wavefront: [32, 64]"
        self.assert_refused(entry, entry.replace("[32, 64]", "[32]"), "gfx1100: it lacks wavefronts of 64")


if __name__ == "__main__":
    unittest.main()
