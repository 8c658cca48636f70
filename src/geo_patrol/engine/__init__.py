"""The rules as plain loops over one game record, compiled by Numba: one chapter of the rules a module."""
