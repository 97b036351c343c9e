"""What tests need and we ship: fakes that behave like the real thing, a manual clock, contract suites."""
