"""`python -m farhand` is the command `farhand`."""

from farhand.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
