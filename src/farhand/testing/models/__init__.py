"""Fake model APIs: HTTP servers on loopback that play a script and write down what they were sent."""
