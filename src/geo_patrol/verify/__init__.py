"""Checking recorded games and recorded odds against the engine: ``python -m geo_patrol.verify FILE...``."""
