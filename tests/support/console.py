"""A terminal whose answers are scripted."""

from geo_patrol.play.text_game import Console


class Script:
    """Answers in their order, the end of the input after them, and all that is written, prompts too."""

    def __init__(self, *answers):
        self.answers, self.output = list(answers), []
        self.console = Console(self._prompt, self.output.append)

    def _prompt(self, prompt):
        self.output.append(prompt)
        if not self.answers:
            raise EOFError
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def text(self):
        return "\n".join(self.output)
