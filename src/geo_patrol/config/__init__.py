"""Game configurations: schema, presets, and loading from TOML files."""
