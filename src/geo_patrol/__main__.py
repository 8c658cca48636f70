"""``python -m geo_patrol``: the command line."""

from geo_patrol.cli.main import main

if __name__ == "__main__":
    main()
