"""Puts Halyard itself into the wheel: what `cmake --install` makes, below the package, where
libhalyard finds its plugins, the virtual GPU and the configs relative to itself.

HALYARD_BUILD names a build tree that is there already; otherwise one is made, for the Python that
runs this. A wheel names that Python, so a module for another one is an error.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPONENTS = ("libhalyard0", "halyard", "halyard-vgpu", "python3-halyard")


def core_module(folder):
    """The extension module in the folder, for this Python."""
    built = sorted(folder.glob("_core*.so"))
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for module in built:
        if module.name == f"_core{suffix}":
            return module
    version = ".".join(str(number) for number in sys.version_info[:2])
    sys.exit(
        f"halyard: The build tree has a module for another Python "
        f"({', '.join(module.name for module in built) or 'none'}); Python {version} ({sys.executable}) "
        f"needs _core{suffix}. Configure the tree with -DHALYARD_PYTHON_PROGRAM={sys.executable}, unset "
        f"HALYARD_BUILD to have one made, or run pip with the Python of the module."
    )


class BuildWithHalyard(build_py):
    """Installs Halyard into the package."""

    def run(self):
        super().run()
        chosen = os.environ.get("HALYARD_BUILD", "")
        # One for each Python: CMake keeps what it has found.
        own = ROOT / "build" / f"wheel-{sys.implementation.cache_tag}"
        tree = pathlib.Path(chosen) if chosen else own
        if not chosen:
            options = ["-DCMAKE_BUILD_TYPE=Release", "-DHALYARD_TESTS=OFF", "-DHALYARD_BENCHMARKS=OFF"]
            options += [f"-DHALYARD_PYTHON_PROGRAM={sys.executable}", "-DHALYARD_NEEDS_PYTHON=ON"]
            subprocess.run(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", *options], check=True)
            targets = ["halyard_product", "halyard_python"]
            subprocess.run(["cmake", "--build", tree, "--target", *targets], check=True)
        with tempfile.TemporaryDirectory() as stage:
            for component in COMPONENTS:
                install = ["cmake", "--install", tree, "--prefix", stage, "--component", component]
                subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
            package = pathlib.Path(self.build_lib) / "halyard"
            modules = next(pathlib.Path(stage).glob("lib/python3*/*-packages/halyard"), None)
            if modules is None:
                sys.exit(
                    f"halyard: The build tree ({tree}) has no Python module. Install the headers of "
                    f"Python and pybind11 (Debian: python3-dev, pybind11-dev), and configure it again."
                )
            for other in package.glob("_core*.so"):  # of an earlier run
                other.unlink()
            shutil.copy2(core_module(modules), package)
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
