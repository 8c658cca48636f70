"""Configurations: their schema, the presets, TOML files."""
