"""``python -m nlp104`` is the command ``nlp104``."""

import sys

from nlp104.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
