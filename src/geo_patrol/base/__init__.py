"""What everything stands on: errors, files, the two sides, the board, compilation and its cache."""
