"""The game as text: the dialogue of the rule books at a terminal, and seats for language models."""

from geo_patrol.textplay.agent import TextAgent, prompt_text
from geo_patrol.textplay.console import Console, Leave
from geo_patrol.textplay.dialogue import play_text
from geo_patrol.textplay.seats import legal_orders_text, observe_text, parse_orders, rules_text

__all__ = [
    "Console",
    "Leave",
    "TextAgent",
    "legal_orders_text",
    "observe_text",
    "parse_orders",
    "play_text",
    "prompt_text",
    "rules_text",
]
