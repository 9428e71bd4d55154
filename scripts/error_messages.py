"""Finds the messages of Halyard's sources that a user can see, as patterns: … stands for a value.

C++ and C: the text that a maker of errors (MAKERS) is given, completed by what a helper puts around
it (HELPERS), and every other literal that reads like a sentence, except where it is help or output
(SILENT). So a new helper needs no entry here: its sentences are found anyway. Python: what is
raised. CMake: what find_package and halyard_add_driver say.
"""

import ast
import bisect
import collections
import fnmatch
import re
import subprocess

Message = collections.namedtuple("Message", "file line text")

FOLDERS = ("bindings", "config", "cts", "drivers", "hal", "library", "plugins", "registry",
           "toolchain", "tools", "vgpu")
# Not for users: tests, the kernels of tests, and programs that the build runs.
SKIPPED = re.compile(
    r"(^|/)(tests|hip_tests|corpus|kernels|frozen|broken|faulty)/|_test\.\w+$"
    r"|^cts/harness/(child|device_test|other_process|check|threads|when)\."
    r"|^(config/settings/(generate|documents|key_table)|vgpu/isa/(coverage|fidelity|isa_table))\.cpp$"
    r"|^tools/bench/(goals|plot)\.cpp$|^hal/src/target_map_table\.cpp$")

# Their first text is a message, however short.
MAKERS = frozenset(
    ["error", "Status", "Failure", "Refusal", "halyard_error_create", "PyErr_SetString",
     "std::runtime_error", "std::invalid_argument", "std::logic_error", "CLI::ValidationError",
     "static_assert"])
# (files, name): what the message is of the text ({}) that the helper is given.
HELPERS = {
    ("hal/src/archive.cpp", "damaged_archive"): "The archive {}",
    ("hal/src/host_elf.cpp", "damaged_host_object"): "The host's ELF {}",
    ("hal/src/compressed_bundle.cpp", "damaged_bundle"): "The compressed offload bundle at offset … {}",
    ("hal/src/compressed_bundle.cpp", "failed"): "The compressed offload bundle at offset … {}",
    ("hal/src/offload_bundle.cpp", "damaged_offload"): "The offload bundle at offset … {}",
    ("hal/src/offload_package.cpp", "damaged_package"): "The offload package at offset … {}",
    ("hal/src/*", "damaged"): "The code object {}",
    ("hal/src/target_id.cpp", "not_a_target"): "The target ID \"…\" {}.",
    ("drivers/*", "check"): "{} fails: ….",
    ("plugins/skeleton/*", "check"): "{} fails: ….",
    ("registry/src/device_uri.cpp", "fail"):
        "The device URI (…) is malformed at character … (…): {}",
    ("registry/src/device_uri.cpp", "fail_at"):
        "The device URI (…) is malformed at character … (…): {}",
    ("tools/values/parse.cpp", "fail"): "The value is malformed at column …: {}",
    ("tools/values/npy.cpp", "malformed"): "The file is not a valid .npy file: {}.",
    ("vgpu/isa/*", "fault_illegal"): "… {}",
    ("vgpu/isa/*", "make_undecodable"): "… {}",
    ("vgpu/queue/aql_queue.cpp", "fail"): "halyard vgpu: queue … stopped at packet …: {}",
    ("vgpu/queue/aql_queue.cpp", "stop_at"): "halyard vgpu: queue … stopped at packet …: {}",
    ("vgpu/queue/aql_vendor_packets.cpp", "fail"):
        "halyard vgpu: queue … stopped at packet …: {}",
    ("vgpu/queue/sdma_queue.cpp", "unknown"): "halyard vgpu: SDMA queue … stopped at byte …: {}",
    ("tools/*", "fail"): "{}",
    ("tools/*", "say"): "{}",
    ("registry/src/load_note.cpp", "add"): "{}",
    ("drivers/hip/last_words.cpp", "add"): "{}",
    ("drivers/*", "give_access"): "{} fails: ….",
    ("drivers/hip/stream.cpp", "loss"): "{} fails: ….",
    ("bindings/python/src/*", "fail"): "{}",
}
# Files in which each text of three words is a part of a message that ends it.
REASONS = frozenset(
    ["plugins/sdk/memory_fault.cpp", "hal/src/module_reader.cpp", "hal/src/selection.cpp",
     "hal/src/target_id.cpp", "registry/src/discovery.cpp", "tools/values/element_type.cpp",
     "vgpu/isa/decode.cpp", "vgpu/isa/encoding.cpp", "vgpu/isa/fault.cpp", "vgpu/isa/lds_direct.cpp",
     "vgpu/isa/register_needs.cpp", "vgpu/isa/source_codes.cpp", "vgpu/queue/sdma_packets.cpp"])
# Files whose other sentences are documentation or output.
OUTPUT = re.compile(
    r"^(bindings/python/src/.*|plugins/(host_memory|skeleton)/driver.cpp"
    r"|tools/halyard/(dump|list|manual|objdump|run|run_program|targets|vgpu_disasm).cpp"
    r"|vgpu/coherence/reliances.cpp|vgpu/observe/(counts|fidelity|trace).cpp)$")
# Whatever is given this text, it is a message.
MARK = re.compile(r"^…?halyard(: (error|warning|note):|: [A-Z]| vgpu: )")
# What these are given is help, a name or output.
SILENT = frozenset(
    ["add", "add_flag", "add_list", "add_number", "add_option", "add_subcommand", "add_values",
     "app", "asm", "check_list", "check_output", "check_text", "count", "def",
     "def_property_readonly", "def_readonly", "ends_with", "explain_points", "find", "footer",
     "join", "print", "set_help_flag", "set_version_flag", "show", "start", "starts_with", "timed",
     "type_name", "volatile", "with_context"])
# These make a text of their first argument.
FORMATTERS = frozenset(["fmt::format", "std::string", "std::string_view", "StringView"])

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'"""
    r"""|[A-Za-z_]\w*(?:::~?\w+)*|\d(?:'?[\w.])*|<<|\+=|==|\S""", re.S)
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Group:
    """What is between brackets: arguments, each a list of tokens (text, offset) and groups."""

    def __init__(self, name, offset):
        self.name = name
        self.offset = offset
        self.arguments = [[]]


def tree_of(text):
    whole = Group("", 0)
    open_groups = [whole]
    before = ""
    for found in TOKEN.finditer(text):
        token = found.group(0)
        if token.startswith(("//", "/*")) or token == "\\":
            continue
        group = open_groups[-1]
        if token in CLOSING:
            inner = Group(before if re.match(r"[A-Za-z_]", before) else "", found.start())
            group.arguments[-1].append(inner)
            open_groups.append(inner)
        elif token in ")]}":
            if len(open_groups) > 1:
                open_groups.pop()
        elif token in ",;":
            group.arguments.append([])
        else:
            group.arguments[-1].append((token, found.start()))
        before = token
    return whole


def is_literal(item):
    return isinstance(item, tuple) and item[0].startswith(('"', 'R"'))


def unquoted(literal):
    raw = re.match(r'R"(\w*)\((.*)\)\1"$', literal, re.S)
    if raw:
        return raw.group(2)
    escapes = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)",
                  lambda found: escapes.get(found.group(1), found.group(1)), literal[1:-1])


def with_values(text):
    """A format with … for its values."""
    text = re.sub(r"\{[^{}\n]*\}", "…", text.replace("{{", "\0").replace("}}", "\1"))
    text = re.sub(r"%(?:\.\*)?[sudxlzg]+\b", "…", text)
    return re.sub(r"…(?:…)+", "…", text.replace("\0", "{").replace("\1", "}"))


def symbol(item):
    return item[0] if isinstance(item, tuple) else ""


def texts_of(items):
    """Each text that the expression can be: (text, offset of its first literal)."""
    symbols = [symbol(item) for item in items]
    for assignment in ("=", "+=", "return"):
        if assignment in symbols:
            return texts_of(items[symbols.index(assignment) + 1:])
    if "?" in symbols:
        question = symbols.index("?")
        colon = symbols.index(":", question) if ":" in symbols[question:] else len(items)
        return texts_of(items[question + 1:colon]) + texts_of(items[colon + 1:])
    if "<<" in symbols:
        cut = symbols.index("<<")
        return texts_of(items[:cut]) + texts_of(items[cut + 1:])
    text = ""
    offset = None
    for item in items:
        if is_literal(item):
            text += unquoted(item[0])
            offset = item[1] if offset is None else offset
        elif isinstance(item, Group) and item.name in FORMATTERS:
            inner = texts_of(item.arguments[0])
            if len(inner) > 1 and len(items) <= 2:
                return inner
            text += inner[0][0] if len(inner) == 1 else "…"
            offset = inner[0][1] if inner and offset is None else offset
        elif symbol(item) not in ("+", *FORMATTERS):
            text += "…"
    return [] if offset is None else [(with_values(text), offset)]


def reads_like_a_sentence(text):
    text = re.sub(r"^(halyard|…)[\w -]*: ", "", text.strip("\n"))
    words = re.findall(r"[A-Za-z]{2,}|\ba\b", text)
    return (len(words) >= 4 and not text.startswith((" ", ",", ";", ".", ")"))
            and bool(re.search(r"[.!;][\"')]?(\s|$|…)|: …|…: ", text)
                     or re.match(r"(The|An?|There|This|It|No|LLVM) (\S+ ){3}", text))
            or bool(re.fullmatch(r"(The|An?|There|This|It|No) .*\w+.*\.", text)))


def has_words(text, least):
    return len(re.findall(r"[A-Za-z]{2,}", re.sub(r"^…?halyard[\w -]*: ", "", text))) >= least


def helper_of(file, name):
    name = name.rsplit("::", 1)[-1]
    for (files, helper), template in HELPERS.items():
        if helper == name and fnmatch.fnmatch(file, files):
            return template
    return None


def messages_in_c(file, source):
    lines = [found.start() for found in re.finditer("\n", source)]
    found = []

    def keep(text, offset):
        text = re.sub(r"^…?halyard(-cts)?: (error: |warning: |note: )?", "", text).strip()
        text = re.sub(r"…(?:…)+", "…", text)
        found.append(Message(file, bisect.bisect_left(lines, offset) + 1, text))

    def is_message(text, name):
        """Of a text that no maker is given."""
        if not has_words(text, 2):
            return False
        if MARK.match(text):
            return True
        if name in SILENT or text.count("\n") > 7 or text.startswith("#"):
            return False
        if file in REASONS and len(re.findall(r"[A-Za-z]{2,}(?=[ ,;.:)]|$)", text)) >= 3:
            return " " in text.strip()
        return not OUTPUT.search(file) and reads_like_a_sentence(text)

    def visit(group):
        name = group.name.rsplit("::", 1)[-1]
        template = helper_of(file, name)
        makes = template is not None or group.name in MAKERS or name in MAKERS
        made = False
        for items in group.arguments:
            texts = texts_of(items)
            for text, offset in texts:
                if makes and not made and has_words(text, 1):
                    if template != "{}" or re.match(r"[A-Za-z…-]", text):
                        keep((template or "{}").replace("{}", text), offset)
                elif not makes and is_message(text, name):
                    keep(text if re.match(r"[A-Z]|halyard|--", text) else "…" + text, offset)
            made = made or any(has_words(text, 1) for text, _ in texts)
            for item in items:
                if isinstance(item, Group) and not (texts and item.name in FORMATTERS):
                    visit(item)

    visit(tree_of(source))
    return found


def text_of_python(node):
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…"
                       for part in node.values)
    return None


def messages_in_python(file, source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for argument in node.exc.args:
                text = text_of_python(argument)
                if text:
                    yield Message(file, node.lineno, text)


def messages_in_cmake(file, source):
    texts = r'(?:FATAL_ERROR|_halyard_missing\}?)\s+((?:"(?:[^"\\]|\\.)*"\s*)+)'
    for found in re.finditer(texts, source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(1)))
        text = re.sub(r"\$\{[^}]*\}", "…", text)
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 3:
            yield Message(file, source.count("\n", 0, found.start()) + 1, text)


READERS = {".cpp": messages_in_c, ".c": messages_in_c, ".h": messages_in_c, ".hpp": messages_in_c,
           ".py": messages_in_python}
CMAKE = ("library/HalyardConfig.cmake.in", "plugins/HalyardDriver.cmake")
PYTHON = "bindings/python/halyard/"


def sources(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", *FOLDERS], capture_output=True,
                            text=True)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.splitlines()
    return sorted(str(file.relative_to(root)) for folder in FOLDERS
                  for file in (root / folder).rglob("*") if file.is_file())


def find_messages(root):
    found = []
    for file in sources(root):
        path = root / file
        if file in CMAKE:
            found += messages_in_cmake(file, path.read_text())
        elif path.suffix in READERS and not SKIPPED.search(file) and path.exists():
            if path.suffix == ".py" and not file.startswith(PYTHON):
                continue
            found += READERS[path.suffix](file, path.read_text())
    return found
