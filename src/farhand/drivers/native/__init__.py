"""The native backend: an agent of our own SDK as a worker."""
