"""The theme of pictures as custom properties of CSS."""

from geo_patrol.scenes import theme

_LIGHT = {
    "panel": "#f4f6fb",
    "card": "#ffffff",
    "card-bright": "#e6ebf7",
    "line": "#a9b6d3",
    "text": "#131a2e",
    "soft": "#46536f",
    "faint": "#5f6c8a",
    "alpha": "#1a52c4",
    "bravo": "#8a5a00",
    "choice": "#00735a",
    "warning": "#b3451d",
}
"""For the page beside the board, which is dark in both."""


def theme_css() -> str:
    """Return the colors of the theme, dark ones and light ones, as the user's system prefers."""
    dark = {
        "panel": theme.PANEL,
        "card": theme.CARD,
        "card-bright": theme.CARD_BRIGHT,
        "line": theme.LINE,
        "text": theme.TEXT,
        "soft": theme.SOFT,
        "faint": theme.FAINT,
        "alpha": theme.SIDES_BRIGHT["alpha"],
        "bravo": theme.SIDES_BRIGHT["bravo"],
        "choice": theme.CHOICE,
        "warning": theme.WARNING,
    }
    return (
        f":root {{ color-scheme: dark light; {_properties(dark)} --focus: {theme.HIT}; }}\n"
        f"@media (prefers-color-scheme: light) {{ :root {{ {_properties(_LIGHT)} }} }}\n"
    )


def _properties(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())
