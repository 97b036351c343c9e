"""The words of the house and its pure rules. Imports no other room; does no IO."""
