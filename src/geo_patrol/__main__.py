"""``python -m geo_patrol``: the command line."""

from geo_patrol.cli import main

if __name__ == "__main__":
    main()
