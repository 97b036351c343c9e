"""What in a worker's folder configures its agent: found, told, and trusted once by the manager."""
