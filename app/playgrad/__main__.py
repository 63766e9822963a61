"""``python -m playgrad``."""

import sys

from playgrad.cli import main

if __name__ == "__main__":
    sys.exit(main())
