"""``python -m sidelight`` is the command line."""

from sidelight.app.cli import main

if __name__ == "__main__":
    main()
