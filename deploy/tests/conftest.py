"""Makes the modules beside tables.py importable, as they are for tables.py itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
