"""The best flight of a mission: its log as on paper, whether it is proved, and a picture for the wall."""

from pathlib import Path

from geo_patrol.drawing.svg import svg_text
from geo_patrol.flight import Flight, load_mission, solve
from geo_patrol.flight.pictures.scene import flight_drawing

mission = load_mission("sample", {"turns": 20})
solution = solve(mission)
print(solution.flight)
print(f"{solution.status}: {solution.score} points, no flight has more than {solution.bound}")

# By hand: the sample game of the rules, flown five turns further.
orders = ["launch D13", *["coast"] * 5, "engines down-right", *["coast"] * 6, "engines down", *["coast"] * 2]
by_hand = Flight.from_orders(mission, orders)
print(f"by hand: {by_hand.score} points after turn {by_hand.turn}, {by_hand.ending}")

Path("best_flight.svg").write_text(svg_text(flight_drawing(solution.flight)), encoding="utf-8")
