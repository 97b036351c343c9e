"""Decides who is buzzed for what happens, and has it done: `model/attention_rules.py`, with its state in the store."""
