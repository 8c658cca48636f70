"""Worksheets of lessons: questions with room for answers, and the answers, as pages to print."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from geo_patrol.config.toml_files import config_path, read_toml
from geo_patrol.drawing.shapes import Color, Drawing, Polyline, Text
from geo_patrol.drawing.sheet import GRID, HEIGHT, INK, SOFT, TEXT, WIDTH, add_text, new_sheet, wrapped
from geo_patrol.scenes.paper import SIDE_LINES
from geo_patrol.validation import parse_model

_LINE = 32.0
"""Room for a line of handwriting: 8 mm."""
_ROW = 34.0
_LEFT = 50.0
_NEXT = 1.4 * TEXT


class Question(BaseModel):
    """A question of a worksheet.

    Attributes:
        text: what is asked.
        answer: what the teacher's sheet says.
        lines: room for the answer, in lines of handwriting.
        columns: headings of the table to fill in, if there is one.
        rows: its cells; those that begin with ? are answers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    answer: str
    lines: Annotated[int, Field(ge=0, le=20)] = 0
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def cells(self, *, has_answers: bool) -> list[list[str]]:
        """Return the cells of the table, with the answers or without them."""
        return [[(cell[1:] if has_answers else "") if cell[:1] == "?" else cell for cell in row] for row in self.rows]


class Worksheet(BaseModel):
    """A worksheet.

    Attributes:
        title: its title, which is that of the lesson.
        intro: what pupils should know.
        questions: the questions in order.
        config: preset of the orbital game that is played, if one is.
        overrides: values that are changed in it.
        mission: mission of the flight game that is played, if one is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    intro: str
    questions: tuple[Question, ...]
    config: str | None = None
    overrides: dict[str, Any] = {}
    mission: str | None = None

    @classmethod
    def load(cls, name: str) -> "Worksheet":
        """Return the worksheet of a lesson.

        Raises:
            RecordingError: the file is damaged.
        """
        path = config_path(f"worksheets/{name}")
        return parse_model(cls, read_toml(path), str(path))


class _Pages:
    """Pages that are filled from top to bottom, and begun anew where something does not fit any more."""

    def __init__(self, title: str, note: str) -> None:
        self._title, self._note = title, note
        self.drawings: list[Drawing] = []
        self._begin()

    def _begin(self) -> None:
        self.drawings.append(new_sheet(self._title, self._note if not self.drawings else ""))
        self.y = 92.0

    @property
    def drawing(self) -> Drawing:
        """The page that is being filled."""
        return self.drawings[-1]

    def make_room(self, height: float) -> None:
        """Begin another page unless the current one has so much room."""
        if self.y + height > HEIGHT and self.y > 92:
            self._begin()

    def write(self, text: str, left: float = 20.0, color: Color = INK) -> None:
        """Write a text in lines."""
        self.y = add_text(self.drawing, text, (left, self.y), WIDTH - 20 - left, color=color)


_ANSWER = SIDE_LINES["alpha"]


def worksheet_pages(sheet: Worksheet, *, has_answers: bool) -> list[Drawing]:
    """Return the pages of a worksheet, for pupils or with the answers."""
    pages = _Pages(
        f"{sheet.title}: answers" if has_answers else sheet.title, "" if has_answers else "name ____________________"
    )
    pages.write(sheet.intro)
    for number, question in enumerate(sheet.questions, start=1):
        pages.y += 14
        pages.make_room(_height(question, has_answers=has_answers))
        pages.drawing.add(Text((20, pages.y), f"{number}", TEXT, INK, bold=True))
        pages.write(question.text, _LEFT)
        if question.rows:
            _add_table(pages, question, has_answers=has_answers)
        if has_answers:
            pages.write(question.answer, _LEFT, _ANSWER)
        else:
            _add_lines(pages, question.lines)
    return pages.drawings


def _height(question: Question, *, has_answers: bool) -> float:
    """Return how much room a question takes."""
    texts = (question.text, question.answer) if has_answers else (question.text,)
    lines = sum(len(wrapped(text, TEXT, WIDTH - 20 - _LEFT)) for text in texts)
    table = _ROW * (len(question.rows) + 1) + 8 if question.rows else 0
    return lines * _NEXT + table + (0 if has_answers else question.lines * _LINE + 8)


def _add_lines(pages: _Pages, count: int) -> None:
    """Draw lines to write on."""
    for _ in range(count):
        pages.y += _LINE
        y = pages.y - 0.4 * _LINE
        pages.drawing.add(Polyline(((_LEFT, y), (WIDTH - 20, y)), SOFT, dashed=True))
    pages.y += 8


def _add_table(pages: _Pages, question: Question, *, has_answers: bool) -> None:
    """Draw a table to fill in."""
    top, width = pages.y - 0.4 * TEXT, WIDTH - 20 - _LEFT
    cells = [list(question.columns), *question.cells(has_answers=has_answers)]
    first = min(max(9.5 * max(len(row[0]) for row in cells) + 16, 60), 0.45 * width)
    xs = [
        _LEFT,
        *(_LEFT + first + (width - first) * i / (len(question.columns) - 1) for i in range(len(question.columns))),
    ]
    bottom = top + _ROW * len(cells)
    pages.drawing.add(
        *(Polyline(((_LEFT, top + _ROW * i), (WIDTH - 20, top + _ROW * i)), GRID) for i in range(len(cells) + 1))
    )
    pages.drawing.add(*(Polyline(((x, top), (x, bottom)), GRID) for x in xs))
    for number, row in enumerate(cells):
        for column, text in enumerate(row):
            is_answer = number > 0 and question.rows[number - 1][column][:1] == "?"
            at = xs[column] + 8, top + _ROW * (number + 0.5)
            pages.drawing.add(Text(at, text, TEXT, _ANSWER if is_answer else INK if number else SOFT))
    pages.y = bottom + _NEXT


def worksheet_markdown(sheet: Worksheet) -> str:
    """Return a worksheet as a page of the documentation, to print from the browser."""
    blank = r"\_" * 30
    parts = [f"Name: {blank}", sheet.intro]
    for number, question in enumerate(sheet.questions, start=1):
        parts.append(f"**{number}.** {question.text.replace('_', chr(92) + '_')}")
        if question.rows:
            rows = [question.columns, ["---"] * len(question.columns), *question.cells(has_answers=False)]
            parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        parts += ["&nbsp;"] * min(question.lines, 1)
    return (
        f"# Worksheet: {sheet.title[0].lower()}{sheet.title[1:]}\n\n:::{{container}} worksheet\n"
        + "\n\n".join(parts)
        + "\n:::\n"
    )
