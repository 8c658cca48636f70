"""Environments in the shape that training libraries ask for, one library a module; nothing is imported before use."""
