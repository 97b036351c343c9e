"""Fake model APIs on loopback: the real agent CLIs run against them, with no key and no network."""
