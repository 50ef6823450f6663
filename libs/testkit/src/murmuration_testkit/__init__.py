"""What tests, benches and drills of all folders use. Development only: no service imports it."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[4]
