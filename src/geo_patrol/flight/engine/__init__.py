"""The rules of the flight games as compiled functions over structured records."""
