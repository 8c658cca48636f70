"""``Game`` by hand, with a configuration of one's own: what would a raid cost, and how often would it succeed?"""

from geo_patrol import Game

# a preset with single values changed; a TOML file or a mapping would do as well
game = Game("geo_patrol", seed=1, overrides={"both.patrols.formation": [[4, 2], [0, 1]], "alpha.patrols.ammo": 2})
print(game)

# three moves bring alpha's first two Patrols from the middle between the goals to bravo's HVA
while game.turn <= 4:
    game.step(alpha="P1 prograde; P2 prograde")
    if game.is_legal("alpha", "P1 shoot HVA"):
        break
    game.step()  # an engagement phase without engagements

raid = ["P1 shoot HVA", "P2 collide HVA"]
for order in raid:
    print(f"{order}: costs {game.cost('alpha', order)} fuel, succeeds with {game.probability('alpha', order):.0%}")

# a planner may try things out on forks: they have fresh chance and know nothing of what is to come
wins = 0
for trial in range(1000):
    fork = game.fork(seed=trial)
    fork.step(alpha=raid, bravo="P3 guard")
    wins += any(str(reason) == "hva_destroyed (bravo)" for reason in fork.reasons)
print(f"bravo's HVA is lost in {wins / 10:.1f}% of the trials")

for outcome in game.step(alpha=raid, bravo="P3 guard").outcomes:
    print(outcome)
print(repr(game))
