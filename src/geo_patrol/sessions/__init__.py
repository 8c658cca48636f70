"""A game in progress, without any drawing: timeline, playback, order entry, waiting for agents, live games."""
