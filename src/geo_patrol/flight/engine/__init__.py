"""The rules of the flight games as compiled functions over records; no Gymnasium, no pygame, no printing."""
