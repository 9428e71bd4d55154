#!/usr/bin/env python3
"""Builds the amdgpu driver's device library: one code object for each GPU target.

Without options it regenerates the set that is checked in, drivers/amdgpu/device/prebuilt, with
clang-22. --check compares instead, byte by byte: what CI runs. With --output it builds for other
targets or with another compiler, which is what -DHALYARD_DEVICE_BINARIES=source does.
"""

import argparse
import pathlib
import shutil
import tempfile

from checked_in import Failure, differences, run, run_main

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "drivers/amdgpu/device"
PREBUILT = SOURCES / "prebuilt"
# One code object for all of it: a code object has one metadata record.
UNIT = "library.c"

# Generic targets cover their processors' whole families; gfx908 and gfx90a are in none. "Any"
# setting of xnack and sramecc for all, so that each runs with either.
PREBUILT_TARGETS = [
    "gfx9-generic", "gfx908", "gfx90a", "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic",
    "gfx11-generic", "gfx12-generic",
]
# What the checked-in bytes come from; another version may make others.
PREBUILT_COMPILER = "clang-22"


def find_compiler(toolchain, path):
    """The clang of a toolchain: of a folder, or where the toolchain usually is."""
    if toolchain == "rocm":
        root = pathlib.Path(path or "/opt/rocm")
        candidates = [root / "llvm/bin/clang", root / "lib/llvm/bin/clang", root / "bin/clang"]
    elif path:
        root = pathlib.Path(path)
        candidates = [root / "bin/clang", root / "clang"]
    else:
        for name in (PREBUILT_COMPILER, "clang"):
            found = shutil.which(name)
            if found:
                return found
        raise Failure("No clang is on the PATH. Install clang-22 and lld-22, or name the folder of "
                      "an LLVM installation (--path, HALYARD_DEVICE_TOOLCHAIN_PATH).")
    for candidate in candidates:
        if candidate.is_file():
            return str(candidate)
    raise Failure(f"The {toolchain} toolchain has no clang at "
                  f"{' or '.join(str(c) for c in candidates)}. Name the folder that it is installed "
                  "in (--path, HALYARD_DEVICE_TOOLCHAIN_PATH).")


def describe_compiler(compiler):
    """Its first line of --version, and its major version."""
    result = run([compiler, "-E", "-P", "-x", "c", "-"], input="__clang_major__")
    major = result.stdout.strip()
    if result.returncode != 0 or not major.isdigit():
        raise Failure(f"{compiler} is no clang that works: {result.stderr.strip()}")
    return run([compiler, "--version"]).stdout.splitlines()[0], int(major)


def known_processors(compiler):
    result = run([compiler, "-target", "amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"])
    lines = (result.stdout + result.stderr).split()
    known = sorted({word for word in lines if word.startswith("gfx")})
    if not known:
        raise Failure(f"{compiler} does not compile for AMD GPUs (amdgcn-amd-amdhsa).")
    return known


def check_targets(compiler, targets):
    known = known_processors(compiler)
    for target in targets:
        processor, *features = target.split(":")
        if processor not in known:
            raise Failure(f"The target ({target}) names no processor that {compiler} compiles for. "
                          f"It knows {', '.join(known)}. Choose among them (--target, "
                          "HALYARD_DEVICE_TARGETS).")
        for feature in features:
            if feature not in ("xnack+", "xnack-", "sramecc+", "sramecc-"):
                raise Failure(f"The target ({target}) has a feature ({feature}) other than xnack+, "
                              "xnack-, sramecc+ and sramecc-.")


def file_name(target):
    # No colons, which makefiles and some file systems do not take.
    return f"{target.replace(':', '_')}.hsaco"


def build(compiler, major, target, output):
    # Relative names, no debug information, no local symbols and no compiler's name: the same bytes
    # wherever they are made. The symbol table has to stay: ROCR 5.2.3 finds no kernel without it.
    version = 6 if major >= 19 else 5  # generic targets need 6
    command = [
        compiler, "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib",
        f"-mcode-object-version={version}", "-std=c2x", "-O2", "-Wall", "-Wextra", "-Werror",
        "-fno-ident", "-Wl,--discard-all,--strip-debug", UNIT, "-o", str(output)
    ]
    result = run(command, cwd=SOURCES)
    if result.returncode != 0:
        raise Failure(f"The device library does not build for {target}:\n{' '.join(command)}\n"
                      f"{result.stderr.strip()}")
    # The linker marks it as a program, which it is not.
    output.chmod(0o644)


def check(built, description):
    names = {file_name(target) for target in PREBUILT_TARGETS}
    wrong = differences(PREBUILT, built, names, suffix="")
    if wrong:
        raise Failure(f"{PREBUILT.relative_to(ROOT)} is not what the sources make with "
                      f"{description}: {', '.join(wrong)}. Run tools/device_binaries.py and commit "
                      "the result.")
    print(f"{len(names)} code objects are as their sources say ({description}).")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="compare the checked-in set with what the sources make")
    parser.add_argument("--toolchain", choices=["llvm", "rocm"], default="llvm")
    parser.add_argument("--path", help="where the toolchain is installed (llvm: what the PATH has; "
                        "rocm: /opt/rocm)")
    parser.add_argument("--target", action="append", metavar="TARGET", dest="targets",
                        help="a target ID, such as gfx90a or gfx90a:xnack+; may be repeated "
                        "(default: the checked-in set's)")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR",
                        help="where the code objects go (default: the checked-in set)")
    parser.add_argument("--dry-run", action="store_true",
                        help="only look whether the toolchain knows the targets")
    arguments = parser.parse_args()
    if arguments.output is None and not arguments.dry_run and (
            arguments.targets or arguments.toolchain != "llvm" or arguments.path):
        parser.error("the checked-in set is built by clang-22 for its own targets; give --output")

    compiler = find_compiler(arguments.toolchain, arguments.path)
    description, major = describe_compiler(compiler)
    targets = arguments.targets or PREBUILT_TARGETS
    check_targets(compiler, targets)
    if arguments.dry_run:
        print(f"{description}: {', '.join(targets)}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        built = pathlib.Path(scratch)
        for target in targets:
            build(compiler, major, target, built / file_name(target))
        if arguments.check:
            check(built, description)
            return
        output = arguments.output or PREBUILT
        output.mkdir(parents=True, exist_ok=True)
        for target in targets:
            shutil.copy(built / file_name(target), output / file_name(target))
    size = sum((output / file_name(target)).stat().st_size for target in targets)
    print(f"{len(targets)} code objects, {size} bytes, by {description}")


if __name__ == "__main__":
    run_main(main)
