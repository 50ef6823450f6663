"""Run every proof of the repository: what is too long or too rare for `make test`.

A folder's proofs/*.py lists callables in PROOFS; what they return is what drills return.
"""

import sys

from drill import details, line

from murmuration_testkit.suite import Suite, main

PROOF = Suite("proof", "proofs", "PROOFS", line, details, good=lambda outcome: not outcome["differences"])

if __name__ == "__main__":
    sys.exit(main(PROOF))
