"""Pictures of a game. ``text`` draws with letters alone."""
