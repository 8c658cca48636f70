"""Playing by hand in a window: orders that are being given, whose turn it is, and the window for it."""
