"""Pictures of the flight games: one description of a drawing, written as SVG or painted by pygame; and the window."""
