"""How many examples the random tests of the proxy try."""

import os

EXAMPLES = int(os.environ.get("TASKSHIELD_EXAMPLES", "40"))
