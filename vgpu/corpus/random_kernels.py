#!/usr/bin/env python3
"""Random kernels for the virtual GPU: what the host and the engine compute must be the same.

    random_kernels.py --seed=7 --count=20 --output=random.c     writes kernels, in the corpus's language
    random_kernels.py --build=build/release --seed=100 --files=50   compiles and runs 50 such files

A file's kernels depend on its seed alone. With --build, a file whose results differ stays with its
code objects in --keep, and the command that runs it again is printed. The exit code is then 1.
A file that differs is compiled and run again without what clang 22 is known to get wrong at that level
(docs/compiler-bugs.md); if it agrees then, it is named and does not count as different.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from kernel_generator import write

PROCESSORS = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"]


# Up to LLVM 22, the pass si-lower-sgpr-spills may define the VGPR that holds spilled SGPRs anew in each
# round of a loop, which the fast register allocator of -O0 takes for "its lanes are not needed": masks of
# lanes that a loop carries are lost (LLVM pull request 186348). In memory the spilled values are safe.
WITHOUT_SPILLS_TO_LANES = ["-mllvm", "-amdgpu-spill-sgpr-to-vgpr=0"]

# Where each round of a loop copies an SGPR to a VGPR that is read behind the loop, si-fold-operands of LLVM
# 22.1 reads the SGPR there: lanes that left early get the last round's value (LLVM pull request 203256).
# machine-sink is what moves such a read behind the loop.
WITHOUT_SINKING = ["-mllvm", "-disable-machine-sink"]

# Partial redundancy elimination makes blocks between a switch and its arms that hold nothing but an
# extension or a truncation, which StructurizeCFG of LLVM 22.1 hoists and loses (LLVM pull request 183792).
WITHOUT_PRE = ["-mllvm", "-enable-pre=0"]


def run(command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


def compile_and_run(build, source, folder, more_at_O0=(), more_from_O1=()):
    """Returns what went wrong, for a reader, and the levels (such as "0") of the objects that differed."""
    flags = dict(line.split("=", 1) for line in (build / "vgpu/corpus/flags.txt").read_text().splitlines())
    jobs = [flags["host"].split(";") + ["-shared", source, "-o", folder / "kernels.so"]]
    for processor in PROCESSORS:
        for level in range(4):
            more = more_from_O1 if level else more_at_O0
            jobs.append(flags["gpu"].split(";") + [f"-mcpu={processor}", f"-O{level}", *WITHOUT_PRE, *more, source, "-o",
                                                   folder / f"{source.name}.{processor}.O{level}.hsaco"])
    for job in jobs:
        result = run(job)
        if result.returncode:
            return f"{' '.join(map(str, job))}\n{result.stderr[:4000]}", set()
    command = [build / "bin/vgpu_corpus_test", f"--kernels={folder / 'kernels.so'}", f"--objects={folder}",
               "--gtest_brief=1", f"--gtest_filter=*{source.stem}_*"]
    result = run(command)
    if result.returncode == 0:
        return "", set()
    levels = set(re.findall(r"\.gfx\w+\.O(\d)\.hsaco, kernel", result.stdout))
    return f"{' '.join(map(str, command))}\n{result.stdout[-4000:]}{result.stderr[-2000:]}", levels


def check(build, seed, count, folder):
    """Checks one file; returns what went wrong, for a reader, and what of the compiler's that is known to be."""
    source = folder / f"random_{seed}.c"
    source.write_text(write(seed, count))
    wrong, levels = compile_and_run(build, source, folder)
    if not levels:
        return wrong, ""
    with tempfile.TemporaryDirectory(prefix="random-kernels-") as again:
        wrong_again, _ = compile_and_run(build, source, pathlib.Path(again), WITHOUT_SPILLS_TO_LANES, WITHOUT_SINKING)
    if wrong_again:
        return wrong, ""
    known = []
    if "0" in levels:
        known.append("at -O0 with SGPRs spilled to lanes only (LLVM pull request 186348)")
    if levels - {"0"}:
        at = ", ".join(f"-O{level}" for level in sorted(levels - {"0"}))
        known.append(f"at {at} with machine-sink only (LLVM pull request 203256)")
    return wrong, "; ".join(known)


def check_and_keep(options, seed):
    """What check() returns; the folder of a file that differs is kept."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="random-kernels-"))
    wrong, of_compiler = check(options.build.resolve(), seed, options.count, folder)
    if not wrong or of_compiler:
        shutil.rmtree(folder)
        return wrong, of_compiler
    kept = options.keep.resolve() / str(seed)
    shutil.rmtree(kept, ignore_errors=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, kept)
    return wrong.replace(str(folder), str(kept)), of_compiler


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first file's (default: 1)")
    parser.add_argument("--count", type=int, default=12, help="kernels in a file (default: 12)")
    parser.add_argument("--output", type=pathlib.Path, help="write one file and stop")
    parser.add_argument("--build", type=pathlib.Path, help="the build folder, with vgpu_corpus_test built")
    parser.add_argument("--files", type=int, default=1, help="how many seeds, from --seed on (default: 1)")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("random-kernels"),
                        help="where files with differences go (default: random-kernels)")
    options = parser.parse_args()
    if options.output:
        options.output.write_text(write(options.seed, options.count))
        return 0
    if not options.build:
        parser.error("give --output=FILE to write kernels or --build=FOLDER to run them")
    failures = known = 0
    seeds = range(options.seed, options.seed + options.files)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for seed, (wrong, of_compiler) in zip(seeds, pool.map(lambda seed: check_and_keep(options, seed), seeds)):
            if of_compiler:
                known += 1
                print(f"seed {seed}: differs {of_compiler}", flush=True)
            elif wrong:
                failures += 1
                print(f"seed {seed}:\n{wrong}", flush=True)
    print(f"{options.files} files of {options.count} kernels, {failures} with differences, "
          f"{known} with one that is the compiler's")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
