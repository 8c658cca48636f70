"""Games in progress without any drawing: timeline, playback, orders being entered, waiting for agents."""
