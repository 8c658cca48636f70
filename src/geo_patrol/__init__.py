"""Two-player orbital board games for reinforcement learning: GEO Patrol, Orbit Defender 2-D, King of the Hill."""

__version__ = "0.1.0"
