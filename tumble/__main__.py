"""``python -m tumble``: the command, where its script is not at hand."""

import sys

from tumble.scenarios.cli import main

if __name__ == "__main__":
    sys.exit(main())
