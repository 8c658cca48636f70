"""Checking recorded games and odds of the published code: ``python -m geo_patrol.verify FILE...``."""
