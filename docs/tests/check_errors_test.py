"""scripts/check-errors on small trees: what it takes for a message, and what it refuses."""

import fnmatch
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts/check-errors"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
import error_messages  # noqa: E402


def entry(*messages, title="Something is wrong", text="Do something else."):
    return "\n".join(["# Page", "", f"### {title}", "", "```text", *messages, "```", "", text, ""])


class CheckErrors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/errors.md", "[A](errors/a.md)\n")
        self.write("docs/errors/a.md", "# Page\n")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_script(self, *arguments):
        command = [sys.executable, SCRIPT, f"--root={self.root}", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def messages(self):
        lines = self.run_script("--messages").stdout.splitlines()
        return [line.split("\t")[2] for line in lines]

    def mistakes(self):
        outcome = self.run_script()
        self.assertEqual(outcome.stderr, "")
        self.assertEqual(outcome.returncode, 1)
        return outcome.stdout

    def assert_agrees(self):
        outcome = self.run_script()
        self.assertEqual(outcome.stderr + outcome.stdout,
                         "Each message of the sources has an entry, and each entry a message.\n")
        self.assertEqual(outcome.returncode, 0)

    def test_a_message_needs_an_entry(self):
        self.write("hal/a.cpp", 'Status f() {\n  return error(code, "No file ({}).", name);\n}\n')
        self.assertIn("hal/a.cpp:2: The message (No file (…).) has no entry", self.mistakes())
        self.write("docs/errors/a.md", entry("No file (…)."))
        self.assert_agrees()

    def test_an_entry_needs_a_message(self):
        self.write("docs/errors/a.md", entry("The file (…) is gone."))
        self.assertIn("docs/errors/a.md:6: No message of the sources belongs to", self.mistakes())

    def test_a_line_whose_messages_all_belong_to_others_is_stale(self):
        self.write("hal/a.cpp", 'auto s = error(kNotFound, "The file ({}) is gone.", name);')
        self.write("docs/errors/a.md", entry("The file (…) is gone.", "The file …"))
        found = self.mistakes()
        self.assertIn("docs/errors/a.md:7: No message of the sources belongs to (The fil", found)
        self.assertNotIn("docs/errors/a.md:6", found)

    def test_a_line_covers_a_message_with_all_its_parts_in_order(self):
        self.write("hal/a.cpp", 'auto s = error(code, "first part {} second part {} third part");')
        for line, covers in (("first part … second part … third part", True),
                             ("first part … third part", True),
                             ("… second part …", True),
                             ("first part … second part … third part …", False),
                             ("… second part … second part …", False),
                             ("first part … first part … third part", False),
                             ("first part … second part … third par", False),
                             ("… third part … second part …", False)):
            self.write("docs/errors/a.md", entry(line))
            self.assertEqual(self.run_script().returncode == 0, covers, line)

    def test_many_values_take_no_longer(self):
        self.write("hal/a.cpp", 'auto s = error(code, "' + "{} x " * 40 + 'end");')
        self.write("docs/errors/a.md", entry("… x " * 40 + "end", "… x " * 40 + "other end"))
        self.assertIn("docs/errors/a.md:7: No message", self.mistakes())

    def test_an_entry_explains(self):
        self.write("hal/a.cpp", 'auto s = error(kNotFound, "The file ({}) is gone.", name);')
        self.write("docs/errors/a.md", entry("The file (…) is gone.", text=""))
        self.assertIn("docs/errors/a.md:3: The entry does not explain", self.mistakes())

    def test_an_entry_has_messages(self):
        self.write("docs/errors/a.md", "### Something\n\nDo this.\n")
        self.assertIn("docs/errors/a.md:1: The entry has no messages", self.mistakes())

    def test_a_line_may_not_cover_everything(self):
        self.write("hal/a.cpp", 'auto s = error(kNotFound, "The file ({}) is gone.", name);')
        self.write("docs/errors/a.md", entry("The …"))
        self.assertIn("would explain too many messages", self.mistakes())

    def test_two_entries_may_not_have_one_line(self):
        self.write("hal/a.cpp", 'auto s = error(kNotFound, "The file ({}) is gone.", name);')
        self.write("docs/errors/a.md", entry("The file (…) is gone.", "The file (…) is gone."))
        self.assertIn("is also at docs/errors/a.md:6", self.mistakes())

    def test_pages_and_headings_that_are_named_exist(self):
        self.write("docs/errors/b.md", "# Page\n")
        self.write("hal/a.cpp", '// docs/errors/c.md\n// docs/errors/a.md#nothing\n'
                                '// docs/errors/a.md#page\n')
        found = self.mistakes()
        self.assertIn("The page (docs/errors/b.md) is not linked", found)
        self.assertIn("hal/a.cpp:1: There is no page (docs/errors/c.md)", found)
        self.assertIn("hal/a.cpp:2: The page (docs/errors/a.md) has no entry (nothing)", found)
        self.assertNotIn("hal/a.cpp:3", found)

    def test_what_a_maker_of_errors_is_given_is_a_message(self):
        self.write("hal/a.cpp", """
            Status a() { return error(StatusCode::kNotFound, "short {}", x ? "a" : "another"); }
            Status b() { return Status{StatusCode::kNotFound, "in braces"}; }
            Status c() { return halyard::error(code, "two literals "  // and a comment
                                                     "are one ({:#x}).", x); }
            Status d() { return error(code, "{} {}", x, is ? "There is one." : "There is none."); }
            Status e() { return Status(code, "A sum of " + std::to_string(n) + " parts."); }
            // error(code, "A comment is none.")
        """)
        self.assertEqual(self.messages(), ["short …", "in braces", "two literals are one (…).",
                                           "There is one.", "There is none.", "A sum of … parts."])

    def test_a_sentence_is_a_message_wherever_it_is(self):
        self.write("hal/a.cpp", """
            Status mine() { return unheard_of("The thing ({}) is not there. Make one.", x); }
            std::string reason() { return "is not a number; it must be one from 1 to 9."; }
            const char* name() { return "a thing of some kind"; }
        """)
        self.assertEqual(self.messages(), ["The thing (…) is not there. Make one.",
                                           "…is not a number; it must be one from 1 to 9."])

    def test_help_and_output_are_no_messages(self):
        self.write("tools/a.cpp", """
            void f() {
              app.add_option("--x", x, "The size of the thing, in bytes. At least one");
              app.footer("This sentence is a part of the help.");
              fmt::print("The result is as you expect it.");
              fmt::print(stderr, "halyard: warning: The disk is nearly full.\\n");
            }
        """)
        self.assertEqual(self.messages(), ["The disk is nearly full."])

    def test_a_helper_adds_its_words(self):
        self.write("hal/src/archive.cpp", 'auto s = damaged_archive("has no member at {}.", offset);')
        self.assertEqual(self.messages(), ["The archive has no member at …."])

    def test_python_raises_messages(self):
        self.write("bindings/python/halyard/a.py",
                   "def f(x):\n    raise Error(1, f'No {x!r} here.')\n"
                   "text = 'A sentence that is not raised.'\n")
        self.assertEqual(self.messages(), ["No … here."])

    def test_rules_are_about_files_that_exist(self):
        files = error_messages.sources(ROOT)
        patterns = {pattern for pattern, _ in error_messages.HELPERS} | error_messages.REASONS
        gone = [pattern for pattern in patterns | set(error_messages.CMAKE)
                if not fnmatch.filter(files, pattern)]
        self.assertEqual(gone, [])

    def test_tests_have_no_messages(self):
        self.write("hal/tests/a.cpp", 'auto s = error(code, "A message of a test.");')
        self.assertEqual(self.messages(), [])

    def test_the_entry_of_an_error_is_found(self):
        self.write("docs/errors/a.md", entry("The file (…) is gone.") +
                   entry("The file (…) is too large for …. Cut it.", title="Large", text="Cut."))
        for text in ("halyard: error: In x: The file (a b) is too large for a disk.", "large for"):
            self.assertEqual(self.run_script("--find=" + text).stdout,
                             "docs/errors/a.md#large\n\nLarge\n\nCut.\n")
        self.assertEqual(self.run_script("--find=0x1234").stdout, "No entry has these words.\n")


if __name__ == "__main__":
    unittest.main()
