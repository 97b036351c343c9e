"""What farhand ships for testing: fakes of the world outside, and the suites that every part passes."""
