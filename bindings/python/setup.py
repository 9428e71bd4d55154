"""Puts Halyard itself into the wheel: what `cmake --install` makes, below the package, where
libhalyard finds its plugins, the virtual GPU and the configs relative to itself.

HALYARD_BUILD names a build tree that is there already; otherwise one is made.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPONENTS = ("libhalyard0", "halyard", "halyard-vgpu", "python3-halyard")


class BuildWithHalyard(build_py):
    """Installs Halyard into the package."""

    def run(self):
        super().run()
        chosen = os.environ.get("HALYARD_BUILD", "")
        tree = pathlib.Path(chosen) if chosen else ROOT / "build" / "wheel"
        if not chosen:
            options = ["-DCMAKE_BUILD_TYPE=Release", "-DHALYARD_TESTS=OFF", "-DHALYARD_BENCHMARKS=OFF"]
            subprocess.run(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", *options], check=True)
            targets = ["halyard_product", "halyard_python"]
            subprocess.run(["cmake", "--build", tree, "--target", *targets], check=True)
        with tempfile.TemporaryDirectory() as stage:
            for component in COMPONENTS:
                install = ["cmake", "--install", tree, "--prefix", stage, "--component", component]
                subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
            package = pathlib.Path(self.build_lib) / "halyard"
            modules = next(pathlib.Path(stage).glob("lib/python3*/*-packages/halyard"))
            for core in modules.glob("_core*.so"):
                shutil.copy2(core, package)
            shutil.rmtree(modules.parents[1])
            for folder in ("bin", "lib", "share"):
                source = pathlib.Path(stage) / folder
                if not source.exists():
                    continue
                # A wheel has no symbolic links: of a library's names only the one that is loaded.
                for link in [path for path in source.rglob("*") if path.is_symlink()]:
                    target = link.resolve()
                    link.unlink()
                    if target.exists() and ".so." in link.name:
                        shutil.copy2(target, link)
                shutil.copytree(source, package / folder, dirs_exist_ok=True)


class BinaryDistribution(Distribution):
    """A wheel for this Python and machine."""

    def has_ext_modules(self):
        return True


setup(distclass=BinaryDistribution, cmdclass={"build_py": BuildWithHalyard})
