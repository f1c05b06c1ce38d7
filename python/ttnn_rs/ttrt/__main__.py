"""`python -m ttrt`."""

import sys

from ttrt import main

sys.exit(main())
