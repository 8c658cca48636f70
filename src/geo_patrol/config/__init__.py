"""Game configurations: their schema, presets, and how TOML files are read."""
