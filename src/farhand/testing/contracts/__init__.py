"""Promises that every hub, store, driver and channel keeps: suites to inherit from in a test module."""
