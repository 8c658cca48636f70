"""Environments over the engine: PettingZoo's parallel and AEC, and Gymnasium's against an agent."""
