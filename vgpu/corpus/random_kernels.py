#!/usr/bin/env python3
"""Random kernels for the virtual GPU: what the host and the engine compute must be the same.

    random_kernels.py --seed=7 --count=20 --output=random.c     writes kernels, in the corpus's language
    random_kernels.py --build=build/release --seed=100 --files=50   compiles and runs 50 such files

A file's kernels depend on its seed alone. With --build, a file whose results differ stays with its
code objects in --keep, and the command that runs it again is printed. The exit code is then 1.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from kernel_generator import write

PROCESSORS = ["gfx900", "gfx906", "gfx908", "gfx90a"]


def run(command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


def check(build, seed, count, folder):
    """Compiles and runs one file; returns what went wrong, or nothing."""
    flags = dict(line.split("=", 1) for line in (build / "vgpu/corpus/flags.txt").read_text().splitlines())
    source = folder / f"random_{seed}.c"
    source.write_text(write(seed, count))
    jobs = [flags["host"].split(";") + ["-shared", source, "-o", folder / "kernels.so"]]
    for processor in PROCESSORS:
        for level in range(4):
            jobs.append(flags["gpu"].split(";") + [f"-mcpu={processor}", f"-O{level}", source, "-o",
                                                   folder / f"{source.name}.{processor}.O{level}.hsaco"])
    for job in jobs:
        result = run(job)
        if result.returncode:
            return f"{' '.join(map(str, job))}\n{result.stderr[:4000]}"
    command = [build / "bin/vgpu_corpus_test", f"--kernels={folder / 'kernels.so'}", f"--objects={folder}",
               "--gtest_brief=1", f"--gtest_filter=*random_{seed}_*"]
    result = run(command)
    return f"{' '.join(map(str, command))}\n{result.stdout[-4000:]}{result.stderr[-2000:]}" if result.returncode else ""


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
    failures = 0
    for seed in range(options.seed, options.seed + options.files):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="random-kernels-"))
        wrong = check(options.build.resolve(), seed, options.count, folder)
        if wrong:
            failures += 1
            kept = options.keep.resolve() / str(seed)
            shutil.rmtree(kept, ignore_errors=True)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder, kept)
            print(f"seed {seed}:\n{wrong.replace(str(folder), str(kept))}", flush=True)
        else:
            shutil.rmtree(folder)
    print(f"{options.files} files of {options.count} kernels, {failures} with differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
