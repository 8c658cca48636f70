"""``python -m geo_patrol``: the command line."""

from geo_patrol_command import main

if __name__ == "__main__":
    main()
