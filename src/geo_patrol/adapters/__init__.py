"""Environments as training libraries, and tools for language models, expect them: a module for each."""
