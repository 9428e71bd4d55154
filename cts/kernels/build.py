#!/usr/bin/env python3
"""Builds the suite's fat files, <name>.hipfb, from the sources beside them, as modules.yaml says.

Without options it rebuilds all of them. --check compares instead, byte by byte. The results are in
the tree, so that nothing else needs these compilers. Debian 12 packages:

  clang-22 lld-22 clang-tools-22   C and OpenCL C, HIP for generic targets; the bundler
  hipcc libamdhip64-dev            HIP, with clang-15; its headers, for processors that it does
                                   not know: `halyard compile` takes clang 22 for them
                                   (HALYARD names the program; by default build/release's)
  rocm-device-libs                 the device libraries of OpenCL C and HIP
  python3-yaml

The bytes depend on the compilers' versions; those in the tree come from clang 22.1 and hipcc
5.2.21153 (clang 15.0.6).
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "tools"))
from checked_in import Failure, differences, output_of, run_main  # noqa: E402
WARNINGS = ["-O2", "-Wall", "-Wextra", "-Werror"]
# A generic target needs it.
GENERIC_VERSION = 6
NEWER_THAN_HIPCC = ["gfx942", "gfx950", "gfx1100", "gfx1200"]
HALYARD = os.environ.get("HALYARD", FOLDER.parent.parent / "build/release/bin/halyard")


def run(command):
    # The compilers see relative names only, so that no path gets into an object.
    return output_of(command, cwd=FOLDER)


def device_library(name):
    for line in run(["dpkg", "-L", "rocm-device-libs"]).splitlines():
        if line.endswith(f"/bitcode/{name}.bc"):
            return line
    raise Failure(f"The package rocm-device-libs has no {name}.bc.")


def compile_c(source, target, version):
    return ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-std=c2x", *WARNINGS,
            "-nogpulib", f"-mcode-object-version={version}", source]


def compile_cl(source, target, version):
    # The device libraries are linked by hand: clang wants one for each processor and version, and
    # ROCm 5.2.3 has none for version 6, which has version 5's hidden arguments, and for many
    # processors. What the kernels use of them depends on nothing else.
    libraries = ["opencl", "ockl", f"oclc_abi_version_{min(version, 5)}00"]
    link = []
    for library in libraries:
        link += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", device_library(library)]
    # clang 22 keeps a callable copy of each OpenCL kernel, which may not use LDS and traps instead;
    # internalizing drops the copies.
    return ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-x", "cl",
            "-cl-std=CL2.0", *WARNINGS, "-cl-kernel-arg-info", "-mllvm",
            "-amdgpu-internalize-symbols", "-Xclang", "-finclude-default-header", "-nogpulib",
            f"-mcode-object-version={version}", *link, source]


def compile_hip(source, target, version):
    options = ["-x", "hip", f"--offload-arch={target}", *WARNINGS, "--cuda-device-only", "-c",
               "--no-gpu-bundle-output", f"-mcode-object-version={version}", source]
    if target in NEWER_THAN_HIPCC:
        # Halyard knows what clang 22 needs for HIP's headers and ROCm 5.2.3's device libraries.
        return [HALYARD, "compile", source, f"--target={target}", f"--code-object-version={version}",
                *[f"--compiler-option={warning}" for warning in WARNINGS]]
    if target.endswith("-generic"):
        return ["clang-22", "-nogpulib", "-nogpuinc", "-fuse-cuid=none", "-Iwithout_hip", *options]
    return ["hipcc", "-B/usr/lib/llvm-15/bin", *options]


COMPILE = {".c": compile_c, ".cl": compile_cl, ".hip": compile_hip}


def bundle(inputs, output):
    """A compressed offload bundle of (target, path) pairs, by clang's own tool."""
    ids = ["host-x86_64-unknown-linux-gnu-"]
    ids += [f"hipv4-amdgcn-amd-amdhsa--{target}" for target, _ in inputs]
    run(["clang-offload-bundler-22", "-type=o", "-bundle-align=4096", "-compress",
         f"-targets={','.join(ids)}", "-input=/dev/null",
         *[f"-input={path}" for _, path in inputs], f"-output={output}"])


def build(name, module, scratch, pool):
    """Starts the compilations and gives what waits for them and bundles."""
    compiler = COMPILE[pathlib.Path(module["source"]).suffix]
    inputs = []
    pending = []
    for kind, version in (("exact", module["version"]), ("generic", GENERIC_VERSION)):
        for target in module.get(kind, []):
            path = scratch / f"{name}.{target}.hsaco"
            command = compiler(module["source"], target, version) + ["-o", path]
            pending.append(pool.submit(run, command))
            inputs.append((target, path))

    def finish():
        for compilation in pending:
            compilation.result()
        bundle(inputs, scratch / f"{name}.hipfb")

    return finish


def check(names, scratch, is_complete):
    files = {f"{name}.hipfb" for name in names}
    wrong = differences(FOLDER, scratch, files, ".hipfb" if is_complete else None)
    if wrong:
        raise Failure(f"The fat files are not what the sources make: {', '.join(wrong)}. Run "
                      "cts/kernels/build.py and commit the result.")
    print(f"{len(names)} fat files are as their sources say.")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="compare the files in the tree with what the sources make")
    parser.add_argument("--language", choices=[suffix[1:] for suffix in COMPILE],
                        help="only the modules in this language; C needs clang-22, lld-22 and "
                        "clang-tools-22 only")
    arguments = parser.parse_args()
    modules = yaml.safe_load((FOLDER / "modules.yaml").read_text())["modules"]
    if arguments.language:
        modules = {name: module for name, module in modules.items()
                   if module["source"].endswith("." + arguments.language)}
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        scratch = pathlib.Path(folder)
        for finish in [build(name, module, scratch, pool) for name, module in modules.items()]:
            finish()
        if arguments.check:
            check(modules, scratch, arguments.language is None)
            return
        size = 0
        for name in modules:
            content = (scratch / f"{name}.hipfb").read_bytes()
            (FOLDER / f"{name}.hipfb").write_bytes(content)
            size += len(content)
        print(f"{len(modules)} fat files, {size} bytes")


if __name__ == "__main__":
    run_main(main)
