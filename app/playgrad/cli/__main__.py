"""``python -m playgrad.cli``."""

import sys

from playgrad.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
