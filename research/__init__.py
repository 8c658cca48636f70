"""Experiments with agents: learning methods, training libraries, the arena, and what the documents say of them."""
