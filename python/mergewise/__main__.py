"""`python -m mergewise`: the command line."""

import sys

from mergewise.cli import main

sys.exit(main())
