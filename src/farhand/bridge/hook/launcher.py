"""Runs the hook program out of the folder that it was copied to: `python3 -I -S farhand-bridge.py …`."""

import os
import sys

if __name__ == "__main__":
    try:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        from farhand.bridge.hook.program import run

        run(sys.argv[1:])
    finally:
        # A hook that fails would disturb the agent.
        os._exit(0)
