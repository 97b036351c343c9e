<<<<<<< HEAD
"""What farhand ships for testing: fakes of the world outside, and the suites that every part passes."""
=======
"""Shipped for tests: scripted agents, a manual clock, the house, contract suites, kill points."""
>>>>>>> main
