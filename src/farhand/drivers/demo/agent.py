"""The demo agent, a program of its own: shows on demand everything that an agent can do, with no key and no network.

Run as `python -I -S agent.py [PACE]` in a folder of its own; PACE stretches or shortens its pauses, 0 leaves them out.
It speaks the line protocol.
"""

import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

if __name__ == "__main__":  # behind the standard library, so that nothing beside farhand can stand in for it
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from farhand.drivers.demo import replies, work
from farhand.drivers.wires.lines.agent import AgentPrompt, Failed, Gone, LineConversation

WORD_SECONDS = 0.03
SLOW_SECONDS = 10
NOTE = "a-note-from-the-demo.txt"
PICTURE = "sunrise.png"


class Demo:
    """One conversation, and what can be shown in it."""

    def __init__(self, conversation: LineConversation, pace: float, chance: random.Random) -> None:
        self._conversation = conversation
        self._pace = pace
        self._chance = chance
        self._prompt = AgentPrompt("", "")
        self._said = 0
        self._shows: dict[str, Callable[[], None]] = {
            "help": self._help,
            "ready": partial(self._write, replies.READY),
            "stream": self._stream,
            "think": self._think,
            "tool": self._tool,
            "ask": self._ask,
            "choose": self._choose,
            "image": self._image,
            "fail": self._fail,
            "long": self._long,
            "slow": self._slow,
            "plan": self._plan,
            "questions": self._questions,
            "diff": self._diff,
        }

    def play(self, prompt: AgentPrompt) -> None:
        """One turn: what was asked for, or a thoughtful answer."""
        self._prompt, self._said = prompt, 0
        wanted = replies.wanted(prompt.text)
        self._pause(0.2)
        if prompt.files:
            self._files()
        elif judged := replies.verdict(prompt.text):
            self._write(judged)
        elif wanted in self._shows:
            self._shows[wanted]()
        else:
            self._write(replies.echo(prompt.text))
        self._conversation.say("usage", input=len(prompt.text.split()), output=self._said)

    def _pause(self, seconds: float) -> None:
        self._conversation.pause(seconds * self._pace)

    def _write(self, text: str) -> None:
        """Word after word, a little slower at the end of a sentence."""
        for piece in replies.pieces(text):
            self._conversation.say("text", piece=piece)
            self._said += 1
            pause = 5 if piece.rstrip().endswith((".", "!", "?", ":")) else 1
            self._pause(WORD_SECONDS * pause * self._chance.uniform(0.5, 1.5))

    def _help(self) -> None:
        self._write(replies.HELP)

    def _stream(self) -> None:
        self._write(replies.STORY)

    def _think(self) -> None:
        for piece in replies.pieces(replies.THOUGHT):
            self._conversation.say("thought", piece=piece)
            self._pause(WORD_SECONDS)
        self._write(replies.AFTER_THINKING)

    def _tool(self) -> None:
        call, say = f"{self._prompt.id}/tool", self._conversation.say
        folder = Path.cwd()
        say("tool", call=call, name="list_files", title=f"List the files in {folder.name or folder}", status="started")
        self._pause(0.6)
        try:
            names = sorted(path.name + "/" * path.is_dir() for path in folder.iterdir())
        except OSError as error:
            say("tool", call=call, status="failed", output=str(error.strerror))
            self._write(f"I could not look into {folder}: {error.strerror}.")
            return
        say("tool", call=call, status="done", output="\n".join(names) or "(nothing)")
        self._write(replies.counted(names))

    def _ask(self) -> None:
        ask = f"{self._prompt.id}/ask"
        choices = [{"id": "yes", "label": "Yes, write it"}, {"id": "no", "label": "No", "allows": False}]
        question = f"May I write a small note called {NOTE}?"
        action = {"kind": "write", "target": NOTE, "paths": [NOTE]}
        self._conversation.say("ask", ask_id=ask, question=question, choices=choices, about="permission", action=action)
        answer = self._conversation.answer(ask)
        if answer.choice != "yes":
            self._write("Understood, I leave it. Nothing was written." + replies.advice(answer.note))
            return
        call = f"{self._prompt.id}/write"
        self._conversation.say("tool", call=call, name="write_file", title=f"Write {NOTE}", status="started")
        try:
            Path(NOTE).write_text(replies.NOTE)
        except OSError as error:
            self._conversation.say("tool", call=call, status="failed", output=str(error.strerror))
            raise Failed(f"{NOTE} could not be written: {error.strerror}.") from None
        self._conversation.say("tool", call=call, status="done", output=replies.NOTE)
        self._write(f"Thank you! The note is written: {NOTE}." + replies.advice(answer.note))

    def _choose(self) -> None:
        ask = f"{self._prompt.id}/choose"
        choices = [{"id": name, "label": label} for name, (label, _) in replies.DRINKS.items()]
        self._conversation.say("ask", ask_id=ask, question=replies.DRINK_QUESTION, choices=choices, about="choice")
        answer = self._conversation.answer(ask)
        chosen = replies.DRINKS.get(answer.choice)
        self._write((chosen[1] if chosen else "No choice is a choice, too. Water it is.") + replies.advice(answer.note))

    def _plan(self) -> None:
        ask = f"{self._prompt.id}/plan"
        choices = [
            {"id": "go", "label": "Go ahead"},
            {"id": "no", "label": "Keep planning", "allows": False, "words": True},
        ]
        self._conversation.say(
            "ask", ask_id=ask, question=work.PLAN_QUESTION, detail=work.PLAN, choices=choices, about="plan"
        )
        answer = self._conversation.answer(ask)
        if answer.choice == "go":
            self._write("Good, I begin. ")
            self._diff()
        else:
            self._write("I keep planning, and change nothing." + replies.advice(answer.note))

    def _questions(self) -> None:
        """All parts are asked at once, and answered in any order."""
        asked = {part.name: f"{self._prompt.id}/{part.name}" for part in work.QUESTIONNAIRE}
        for part in work.QUESTIONNAIRE:
            choices = [{"id": one, "label": label} for one, label in part.choices]
            self._conversation.say(
                "ask",
                ask_id=asked[part.name],
                question=part.question,
                choices=choices,
                about="choice",
                several=part.several,
            )
        answers = {name: self._conversation.answer(ask).choice for name, ask in asked.items()}
        self._write(work.answered(answers))

    def _diff(self) -> None:
        path = Path(work.FILE)
        call, say = f"{self._prompt.id}/edit", self._conversation.say
        try:
            before, after = work.before_and_after(path.read_text() if path.exists() else "")
            patch = work.patch(before, after)
            say("tool", call=call, name="edit_file", title=f"Edit {path}", status="started", output=patch)
            self._pause(0.6)
            path.write_text(after)
        except OSError as error:
            raise Failed(f"{path} could not be written: {error.strerror}.") from None
        say("tool", call=call, status="done")
        self._write(f"I have changed {path}. Look at its lines, and say what you think of them.")

    def _image(self) -> None:
        self._write("One moment, I get my brushes. ")
        picture = Path(PICTURE).absolute()
        try:
            picture.write_bytes(replies.sunrise())
        except OSError as error:
            raise Failed(f"{picture} could not be written: {error.strerror}.") from None
        self._conversation.say("image", path=str(picture), caption="Sunrise over the sea, painted with zlib.")
        self._write("There. I am told the sea is the hard part.")

    def _fail(self) -> None:
        self._write("Watch this carefully, it goes wrong on purpose. ")
        raise Failed("The demo agent failed, as you asked. Nothing else is broken.")

    def _long(self) -> None:
        for piece in replies.long_answer():
            self._conversation.say("text", piece=piece)
            self._said += len(piece.split())
            self._pause(WORD_SECONDS)

    def _slow(self) -> None:
        self._write(f"I count to {SLOW_SECONDS}, slowly. Stop me whenever you like. ")
        for number in range(1, SLOW_SECONDS + 1):
            self._pause(1)
            self._conversation.say("text", piece=f"{number} ")
        self._write("Done, and nobody stopped me.")

    def _files(self) -> None:
        for name in self._prompt.files:
            self._write(replies.received(Path(name)))


def main() -> None:
    """Talks until the input ends."""
    pace = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    conversation = LineConversation()
    demo = Demo(conversation, pace, random.Random())
    try:
        for prompt in conversation.prompts():
            conversation.turn(prompt, partial(demo.play, prompt))
    except Gone:
        return


if __name__ == "__main__":
    main()
