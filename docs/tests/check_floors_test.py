"""scripts/check-floors on small trees: includes that run up or along are found, and tests may have them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/check-floors"
PAGE = """# Design

### Floors

| floor | folders | why there |
|---|---|---|
| 0 | `ground/` | |
| 1 | `left/`, `right/` | |
"""


class CheckFloors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write("docs/design.md", PAGE)
        self.write("ground/include/ground/a.h", "")
        self.write("left/b.h", '#include "ground/a.h"\n')
        self.write("right/c.h", '#include "c_more.h"\n')
        self.write("right/c_more.h", "#include <vector>\n")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def check(self):
        done = subprocess.run([sys.executable, SCRIPT, "--root", self.root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_down_is_allowed(self):
        self.assertEqual(self.check(), (0, "2 floors, 1 arrows, 0 includes not down\n"))

    def test_up_is_refused(self):
        self.write("ground/src/a.cpp", '#include "ground/a.h"\n  #  include "left/b.h"\n')
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn("ground/src/a.cpp:2: ground (floor 0) includes left/b.h of left (floor 1)", text)

    def test_along_is_refused(self):
        self.write("right/c.h", '#include "left/b.h"\n')
        self.assertEqual(self.check()[0], 1)

    def test_tests_may_include_everything(self):
        self.write("ground/tests/a_test.cpp", '#include "left/b.h"\n')
        self.assertEqual(self.check()[0], 0)

    def test_a_folder_without_a_floor_is_found(self):
        self.write("attic/d.cpp", "")
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn("attic/d.cpp:1: its folder has no floor", text)


if __name__ == "__main__":
    unittest.main()
