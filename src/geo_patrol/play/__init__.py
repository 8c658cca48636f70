"""A game in progress without drawing: players, orders being entered, lessons, advice and analysis, the game as text."""
