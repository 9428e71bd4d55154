"""What the generators of checked-in binaries share: compilers that are run, the comparison with what
is in the tree, and failures in words."""

import filecmp
import pathlib
import subprocess
import sys


class Failure(Exception):
    """An error for the user, printed without a traceback."""


def run(command, **options):
    """The process that has ended, whatever it ended with; a program that is not there is a Failure."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except OSError as problem:
        raise Failure(f"{command[0]} does not start: {problem.strerror}.") from problem


def output_of(command, **options):
    """What a program that succeeds prints."""
    result = run(command, **options)
    if result.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\n{result.stderr.strip()}")
    return result.stdout


def differences(folder, built, names, suffix=None):
    """Which of `names` are not the same in both folders; with `suffix`, also which files that end in
    it are in the first and none of `names`."""
    wrong = []
    for name in sorted(names):
        if not (folder / name).is_file():
            wrong.append(f"{name} is missing")
        elif not filecmp.cmp(folder / name, built / name, shallow=False):
            wrong.append(f"{name} differs")
    if suffix is not None:
        wrong += [f"{path.name} has no source" for path in sorted(folder.glob(f"*{suffix}"))
                  if path.name not in names]
    return wrong


def run_main(main):
    try:
        main()
    except Failure as failure:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {failure}")
