"""Shipped for tests: scripted agents, a manual clock, the house, contract suites, kill points."""
