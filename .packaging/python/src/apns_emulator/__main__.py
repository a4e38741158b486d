"""The program itself, as ``apns-emulator`` or ``python -m apns_emulator``: this process becomes it."""

import os
import sys
from typing import NoReturn

from .process import EmulatorError, binary_path


def main() -> NoReturn:
    """Hands arguments, environment and standard streams over; the exit status is the program's."""
    try:
        path = str(binary_path())
    except EmulatorError as error:
        sys.exit(f"apns-emulator: {error}")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
