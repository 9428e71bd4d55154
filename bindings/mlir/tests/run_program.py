#!/usr/bin/env python3
"""Lowers an MLIR program, runs it with mlir-runner as Debian ships it, and checks what it prints.

A program with lines "// EXPECT: text" must print each text, in that order. One with a function @reference
must print the numbers that this prints when it is lowered for the CPU. One that launches no kernel itself
must print the numbers that the same file prints when it is lowered for the CPU.

    run_program.py PROGRAM --mlir FOLDER --runtime LIBRARY --chip gfx900 [--bare] [--bitcode FOLDER]
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.])", re.IGNORECASE)


def pipeline(name, values):
    path = os.path.join(HERE, "..", "pipelines", name + ".txt")
    with open(path, encoding="utf-8") as file:
        text = "".join(line.strip() for line in file if not line.startswith("#"))
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return f"builtin.module({text})"


def run(words, what):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{what} ended with {done.returncode}:\n{done.stderr[:4000]}")
    return done.stdout


def execute(flags, name, folder, libraries, function="main"):
    values = {"CHIP": flags.chip, "BARE": "true" if flags.bare else "false", "TOOLKIT": folder}
    lowered = os.path.join(folder, name + ".mlir")
    passes = pipeline(name, values)
    if name == "cpu":
        # What the function does not need may launch kernels.
        passes = passes.replace("(", f"(symbol-privatize{{exclude={function}}},symbol-dce,", 1)
    run([f"{flags.mlir}/bin/mlir-opt", flags.program, "--pass-pipeline=" + passes, "-o", lowered],
        f"mlir-opt ({name})")
    return run([f"{flags.mlir}/bin/mlir-runner", lowered, "-e", function, "--entry-point-result=void",
                "--shared-libs=" + ",".join(libraries)], f"mlir-runner ({name})")


def check_expected(expected, output):
    rest = output
    for text in expected:
        before, found, rest = rest.partition(text)
        if not found:
            sys.exit(f"The output has no ({text}) where it is expected:\n{output}")


def numbers(output):
    """Of the values that are printed, not of the lines that describe memrefs."""
    lines = [line for line in output.splitlines() if not line.startswith("Unranked Memref")]
    return [float(text) for text in NUMBER.findall("\n".join(lines))]


def compare(gpu, cpu):
    """The printed numbers have 6 digits; sums may be in another order, and fused."""
    got, want = numbers(gpu), numbers(cpu)
    if not want or len(got) != len(want):
        sys.exit(f"The GPU prints {len(got)} numbers, the CPU {len(want)}:\n{gpu}\n{cpu}")
    if len(set(want)) < 3:
        sys.exit(f"The CPU's numbers are nearly all the same, which compares nothing:\n{cpu}")
    for index, (a, b) in enumerate(zip(got, want)):
        if not abs(a - b) <= 1e-5 + 1e-4 * abs(b):
            sys.exit(f"Number {index} is {a} on the GPU and {b} on the CPU:\n{gpu}\n{cpu}")
    return len(want)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mlir", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--chip", required=True)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--bitcode", default="")
    flags = parser.parse_args()
    utilities = sorted(path for name in ("runner_utils", "c_runner_utils", "float16_utils")
                       for path in glob.glob(f"{flags.mlir}/lib/libmlir_{name}.so*"))
    with open(flags.program, encoding="utf-8") as file:
        source = file.read()
    expected = re.findall(r"// EXPECT: (.*)", source)
    launches = "gpu.launch" in source
    has_reference = re.search(r"^func.func @reference\(", source, re.MULTILINE) is not None
    if launches and not expected and not has_reference:
        sys.exit(f"{flags.program} does not say what it should print.")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(flags.mlir, os.path.join(folder, "llvm"))
        if flags.bitcode:
            os.mkdir(os.path.join(folder, "amdgcn"))
            os.symlink(flags.bitcode, os.path.join(folder, "amdgcn", "bitcode"))
        # The runtime's allocation functions win over those of the utilities.
        libraries = [flags.runtime, *utilities]
        gpu = execute(flags, "launches" if launches else "tensors", folder, libraries)
        check_expected(expected, gpu)
        print(f"The program prints what it says ({len(expected)} lines).")
        if has_reference or not launches:
            function = "reference" if has_reference else "main"
            count = compare(gpu, execute(flags, "cpu", folder, utilities, function))
            print(f"The GPU's numbers are the CPU's ({count} of them).")


main()
