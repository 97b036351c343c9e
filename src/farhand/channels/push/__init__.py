"""Web push: brings notifications to the phone app of devices that may be asleep."""
