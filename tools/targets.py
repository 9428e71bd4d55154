#!/usr/bin/env python3
"""Makes what is derived from the target map, config/targets.yaml.

  tools/targets.py            writes the files that are not as they should be
  tools/targets.py --check    writes nothing; exit code 1 if a file is stale

The files are checked in, so that a build needs neither Python nor this program:
hal/src/target_map_table.cpp, cmake/HalyardTargets.cmake, and the tables in docs/targets.md.
"""

import argparse
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAP = "config/targets.yaml"
NOTICE = "Made by tools/targets.py from config/targets.yaml. Change that, not this."

FEATURES = ("xnack", "sramecc")
CHOSEN = ["any", "on", "off"]
OPEN = ["any"]


class MapError(Exception):
    """The map is wrong; the text says where and how."""


class Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
    """Leaves every scalar a string (`on` and `off` stay what they are), refuses a key given twice."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise MapError(f"line {key.start_mark.line + 1}: the key ({key.value}) is given twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def fail(where, what):
    raise MapError(f"{where}: {what}")


def fields(where, entry, required, optional=()):
    if not isinstance(entry, dict):
        fail(where, "it is no mapping")
    for key in entry:
        if key not in required and key not in optional:
            fail(where, f"the key ({key}) is unknown; legal are {', '.join([*required, *optional])}")
    for key in required:
        if key not in entry:
            fail(where, f"the key ({key}) is missing")


def number(where, text, low, high):
    try:
        value = int(text, 0)
    except (TypeError, ValueError):
        fail(where, f"({text}) is no number")
    if not low <= value <= high:
        fail(where, f"({text}) is outside of {low} to {high}")
    return value


def name_of(where, text, pattern=r"[a-z0-9][a-z0-9.-]*"):
    if not re.fullmatch(pattern, text):
        fail(where, f"the name ({text}) does not have the form {pattern}")
    return text


class Target:
    """A processor, generic target or historic processor; None for what it has not."""

    def __init__(self, kind, name, entry):
        self.kind = kind
        self.name = name_of(kind, name, r"gfx[0-9][0-9a-z-]*")
        self.elf_machine = number(f"{name}: elf_machine", entry["elf_machine"], 0x20, 0xFF)
        self.features = {}
        for feature in FEATURES:
            values = entry.get(feature)
            if values not in (None, OPEN, CHOSEN):
                fail(f"{name}: {feature}", f"({values}) is neither {OPEN} nor {CHOSEN}")
            if values is not None:
                self.features[feature] = values
        if len({tuple(values) for values in self.features.values()}) > 1:
            fail(name, "either all features can be chosen or none")
        self.wavefront = [number(f"{name}: wavefront", size, 32, 64) for size in entry.get("wavefront", [])]
        if self.wavefront not in ([], [32], [64], [32, 64], [64, 32]):
            fail(f"{name}: wavefront", f"({self.wavefront}) are no wavefront sizes")
        self.generic = None
        self.generic_version = 0
        self.architecture = None
        self.families = []
        self.products = []

    @property
    def can_choose(self):
        return CHOSEN in self.features.values()


class Product:
    def __init__(self, name, processor, entry):
        self.name = name_of(processor, name)
        self.processor = processor
        fields(name, entry, ["title"], ["compute_units", "memory", "devices", "aliases"])
        self.title = entry["title"]
        self.compute_units = number(f"{name}: compute_units", entry.get("compute_units", "0"), 0, 1024)
        memory = entry.get("memory", "0GiB")
        if not memory.endswith("GiB"):
            fail(f"{name}: memory", f"({memory}) is not in GiB")
        self.memory_gib = number(f"{name}: memory", memory[:-3], 0, 4096)
        self.devices = number(f"{name}: devices", entry.get("devices", "1"), 1, 8)
        self.aliases = [name_of(name, alias) for alias in entry.get("aliases", [])]


def folded(name):
    """As hal/src/target_map.cpp compares names."""
    return re.sub(r"[ _-]", "", name.lower())


class TargetMap:
    def __init__(self, text):
        top = yaml.load(text, Loader)
        fields("the map", top, ["architectures", "generics", "processors", "historic"])
        self.architectures = top["architectures"]
        self.generics = [self._generic(*item) for item in top["generics"].items()]
        self.processors = [self._processor(*item) for item in top["processors"].items()]
        self.historic = [self._historic(*item) for item in top["historic"].items()]
        self.products = [product for target in self.processors for product in target.products]
        self.families = {}
        for target in self.processors:
            for family in target.families:
                self.families.setdefault(family, []).append(target.name)
        self.families = dict(sorted(self.families.items()))
        self._check_unique()

    def _generic(self, name, entry):
        fields(name, entry, ["elf_machine", "version", "wavefront"], FEATURES)
        target = Target("generic", name, entry)
        target.generic_version = number(f"{name}: version", entry["version"], 1, 255)
        return target

    def _processor(self, name, entry):
        fields(name, entry, ["elf_machine", "architecture", "wavefront", "families"],
               [*FEATURES, "generic", "products"])
        target = Target("processor", name, entry)
        target.architecture = entry["architecture"]
        if target.architecture not in self.architectures:
            fail(name, f"the architecture ({target.architecture}) is not in `architectures`")
        if "generic" in entry:
            self._cover(target, entry["generic"])
        target.families = [name_of(name, family, r"[a-z0-9X]+-(all|dgpu|dcgpu|igpu)")
                           for family in entry["families"]]
        target.products = [Product(product, name, what) for product, what in entry.get("products", {}).items()]
        return target

    def _cover(self, target, entry):
        fields(f"{target.name}: generic", entry, ["name", "since"])
        generic = next((g for g in self.generics if g.name == entry["name"]), None)
        if generic is None:
            fail(target.name, f"the generic target ({entry['name']}) is not in `generics`")
        target.generic = generic.name
        target.generic_version = number(f"{target.name}: since", entry["since"], 1, generic.generic_version)
        # Code for the generic target may name a feature, or need a wavefront size.
        for feature in generic.features:
            if feature not in target.features:
                fail(target.name, f"it lacks {feature}, which {generic.name} has")
        for size in generic.wavefront:
            if size not in target.wavefront:
                fail(target.name, f"it lacks wavefronts of {size}, which {generic.name} has")

    @staticmethod
    def _historic(name, entry):
        fields(name, entry, ["elf_machine"], FEATURES)
        return Target("historic", name, entry)

    @property
    def targets(self):
        return [*self.processors, *self.generics, *self.historic]

    def _check_unique(self):
        machines = {}
        for target in self.targets:
            other = machines.setdefault(target.elf_machine, target.name)
            if other != target.name:
                fail(target.name, f"its elf_machine ({target.elf_machine:#x}) is {other}'s")
        names = {}
        every = [(target.name, "target") for target in self.targets]
        every += [(name, "architecture") for name in self.architectures]
        every += [(name, "family") for name in self.families]
        for product in self.products:
            every += [(name, "product") for name in (product.name, *product.aliases)]
            title = re.sub("^amd", "", folded(product.title))
            if title != folded(product.name):
                every.append((title, "product"))
        for name, kind in every:
            if folded(name) in names:
                fail(name, f"a {names[folded(name)]} and a {kind} have this name")
            names[folded(name)] = kind


def quoted(text):
    return "nullptr" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def cxx_table(the_map):
    kinds = {"processor": "kExact", "generic": "kGeneric", "historic": "kHistoric"}
    lines = [f"// {NOTICE}", '#include "hal/target_map.h"', "", "// clang-format off", "namespace halyard {",
             "namespace {", "", "constexpr ProcessorInfo kProcessors[] = {",
             "    // name, kind, machine, xnack, sramecc, chosen, wavefront, other, generic, version, architecture"]
    for target in the_map.targets:
        sizes = [*target.wavefront, 0, 0][:2]
        row = [quoted(target.name), f"ProcessorKind::{kinds[target.kind]}", f"{target.elf_machine:#04x}",
               *(str(feature in target.features).lower() for feature in FEATURES),
               str(target.can_choose).lower(), str(sizes[0]), str(sizes[1]), quoted(target.generic),
               str(target.generic_version), quoted(target.architecture)]
        lines.append(f"    {{{', '.join(row)}}},")
    lines += ["};", "", "constexpr ArchitectureInfo kArchitectures[] = {"]
    lines += [f"    {{{quoted(name)}, {quoted(title)}}}," for name, title in the_map.architectures.items()]
    lines += ["};", "", "constexpr ProductInfo kProducts[] = {",
              "    // name, title, processor, compute units, GiB, devices"]
    for product in the_map.products:
        lines.append(f"    {{{quoted(product.name)}, {quoted(product.title)}, {quoted(product.processor)}, "
                     f"{product.compute_units}, {product.memory_gib}, {product.devices}}},")
    lines += ["};", "", "constexpr ProductAlias kAliases[] = {"]
    lines += [f"    {{{quoted(alias)}, {quoted(product.name)}}},"
              for product in the_map.products for alias in product.aliases]
    lines += ["};", ""]
    for i, members in enumerate(the_map.families.values()):
        lines.append(f"constexpr const char* kFamily{i}[] = {{{', '.join(map(quoted, members))}}};")
    lines += ["constexpr FamilyInfo kFamilies[] = {"]
    lines += [f"    {{{quoted(name)}, kFamily{i}}}," for i, name in enumerate(the_map.families)]
    lines += ["};", "", "}  // namespace", ""]
    for kind, function, table in [("ProcessorInfo", "all_processors", "kProcessors"),
                                  ("ArchitectureInfo", "all_architectures", "kArchitectures"),
                                  ("ProductInfo", "all_products", "kProducts"),
                                  ("ProductAlias", "all_product_aliases", "kAliases"),
                                  ("FamilyInfo", "all_families", "kFamilies")]:
        lines.append(f"std::span<const {kind}> {function}() noexcept {{ return {table}; }}")
    lines += ["", "}  // namespace halyard", "// clang-format on", ""]
    return "\n".join(lines)


def cmake_list(name, values):
    return [f"set({name}", *(f"  {value}" for value in values), ")"]


def cmake_fragment(the_map):
    lines = [f"# {NOTICE}", "# cmake/HalyardTargetNames.cmake expands names with these lists.", "",
             "# Every exact processor that LLVM 22 compiles for, and every generic target."]
    lines += cmake_list("HALYARD_PROCESSORS", (target.name for target in the_map.processors))
    lines += cmake_list("HALYARD_GENERICS", (target.name for target in the_map.generics))
    lines += ["", "# The generic target that covers a processor; not set where there is none."]
    lines += [f"set(HALYARD_GENERIC_OF_{target.name} {target.generic})"
              for target in the_map.processors if target.generic]
    lines += ["", "# The features that a target ID may choose."]
    lines += [f"set(HALYARD_FEATURES_OF_{target.name} {' '.join(sorted(target.features))})"
              for target in [*the_map.processors, *the_map.generics] if target.can_choose]
    groups = [("HALYARD_ARCHITECTURES", "HALYARD_ARCHITECTURE_", "The processors of an architecture, by code name.",
               {name: [target.name for target in the_map.processors if target.architecture == name]
                for name in the_map.architectures}),
              ("HALYARD_FAMILIES", "HALYARD_FAMILY_", "The processors of a family.", the_map.families)]
    for every, prefix, comment, members in groups:
        lines += ["", f"# {comment}", *cmake_list(every, members)]
        lines += [f"set({prefix}{name} {' '.join(names)})" for name, names in members.items()]
    lines += ["", "# Products: the processor of each name."]
    names = [(name, product.processor) for product in the_map.products for name in (product.name, *product.aliases)]
    lines += cmake_list("HALYARD_PRODUCTS", (name for name, _ in names))
    lines += [f"set(HALYARD_PRODUCT_{name} {processor})" for name, processor in names]
    return "\n".join([*lines, ""])


def table(heading, rows):
    lines = ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def code(text):
    return f"`{text}`"


def says(target):
    """What code may say of its features."""
    if not target.features:
        return ""
    return ", ".join(sorted(target.features)) + ("" if target.can_choose else " (not chosen)")


def sizes_of(target):
    return ", ".join(map(str, target.wavefront))


def documentation(the_map):
    lines = ["### Generic targets", ""]
    lines += table(["generic target", "EF_AMDGPU_MACH", "version", "features", "wavefront", "covers"],
                   [[code(g.name), f"{g.elf_machine:#04x}", str(g.generic_version), says(g), sizes_of(g),
                     ", ".join(code(t.name) for t in the_map.processors if t.generic == g.name)]
                    for g in the_map.generics])
    lines += ["", "### Processors", ""]
    lines += table(["processor", "EF_AMDGPU_MACH", "code name", "generic target", "features", "wavefront"],
                   [[code(t.name), f"{t.elf_machine:#04x}", code(t.architecture), code(t.generic) if t.generic else "",
                     says(t), sizes_of(t)] for t in the_map.processors])
    lines += ["", "### Products", ""]
    lines += table(["product", "names", "processor", "compute units", "memory"],
                   [[p.title + (f" ({p.devices} devices)" if p.devices > 1 else ""),
                     ", ".join(map(code, [p.name, *p.aliases])), code(p.processor),
                     str(p.compute_units or ""), f"{p.memory_gib} GiB" if p.memory_gib else ""]
                    for p in the_map.products])
    lines += ["", "### Code names", ""]
    lines += table(["code name", "architecture", "processors"],
                   [[code(name), title, ", ".join(code(t.name) for t in the_map.processors if t.architecture == name)]
                    for name, title in the_map.architectures.items()])
    lines += ["", "### Families", ""]
    lines += table(["family", "processors"],
                   [[code(name), ", ".join(map(code, names))] for name, names in the_map.families.items()])
    return "\n".join([*lines, ""])


def between_markers(page, generated):
    begin = f"<!-- begin: {NOTICE} -->\n"
    end = "<!-- end -->\n"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise MapError(f"docs/targets.md: it needs one line {begin.strip()} and, after it, one line {end.strip()}")
    return page[:page.index(begin) + len(begin)] + "\n" + generated + "\n" + page[page.index(end):]


def outputs(root):
    """The text of each generated file, by its path under `root`."""
    the_map = TargetMap((root / MAP).read_text())
    page = "docs/targets.md"
    return {
        "hal/src/target_map_table.cpp": cxx_table(the_map),
        "cmake/HalyardTargets.cmake": cmake_fragment(the_map),
        page: between_markers((root / page).read_text(), documentation(the_map)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file is stale")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    try:
        made = outputs(flags.root)
    except (MapError, yaml.YAMLError) as wrong:
        print(f"{MAP}: {wrong}", file=sys.stderr)
        return 1
    stale = [name for name, text in made.items()
             if not (flags.root / name).exists() or (flags.root / name).read_text() != text]
    if flags.check:
        for name in stale:
            print(f"{name} is not what {MAP} says. Run tools/targets.py.", file=sys.stderr)
        print(f"targets: {len(made)} generated files, {len(stale)} stale")
        return 1 if stale else 0
    for name in stale:
        (flags.root / name).write_text(made[name])
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
