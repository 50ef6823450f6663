"""What tests, benches and drills of all folders use. Development only: no service imports it."""
