"""Colors of the flight games, on white paper."""

from geo_patrol.scenes.shapes import Color

PAPER: Color = "#ffffff"
INK: Color = "#222222"
GREY: Color = "#767676"
FAINT: Color = "#d5d5d5"
SHADE: Color = "#a8a8a8"
# Okabe and Ito's colors, which people with any kind of color vision tell apart; lines differ in form as well.
BLUE: Color = "#0072b2"
SKY: Color = "#56b4e9"
ORANGE: Color = "#e69f00"
VERMILION: Color = "#d55e00"
GREEN: Color = "#009e73"
PURPLE: Color = "#cc79a7"
