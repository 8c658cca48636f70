"""Tools of the Makefile."""
