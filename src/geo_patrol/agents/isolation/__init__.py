"""Agents of users in processes of their own."""
