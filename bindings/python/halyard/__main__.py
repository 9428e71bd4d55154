"""`python3 -m halyard …` is `halyard …`: the commands of the program that was installed with this
package, or else of the one in PATH."""

import os
import pathlib
import shutil
import sys


def find_program() -> str:
    """The program's path; "" if there is none."""
    chosen = os.environ.get("HALYARD_PROGRAM", "")
    if chosen:
        return chosen
    for folder in pathlib.Path(__file__).resolve().parents:
        program = folder / "bin" / "halyard"
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    return shutil.which("halyard") or ""


def main() -> None:
    """Becomes the program."""
    program = find_program()
    if not program:
        sys.exit(
            "halyard: The program halyard is not found, neither beside this package nor in PATH. "
            "Install Halyard's program (Debian: halyard), or name it in HALYARD_PROGRAM."
        )
    try:
        os.execv(program, ["halyard", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"halyard: The program ({program}) cannot be run: {error.strerror}.")


if __name__ == "__main__":
    main()
