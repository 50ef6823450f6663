"""python -m follow_service contracts: what this image reads and writes. The service itself runs under gunicorn."""

import sys

from contracts.image import main

if __name__ == "__main__":
    sys.exit(main("follow-service"))
