"""python -m fallow.pressure demo: see --help."""

import sys

from fallow.pressure.demo import main

sys.exit(main())
