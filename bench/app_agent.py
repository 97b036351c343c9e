"""An agent that talks at a steady pace and writes into its text when each piece was written: what `app` measures.

Run as `python -I -S app_agent.py ROOT`; a prompt is `PIECES SECONDS`: so many pieces, with that pause between them.
"""

import sys
import time
from functools import partial

if __name__ == "__main__":
    sys.path.append(sys.argv[1])

from farhand.drivers.wires.lines.agent import AgentPrompt, Gone, LineConversation

WORDS = "The tests pass now; the **failing one** waited for a file that nobody wrote any more. ".split()


def play(conversation: LineConversation, prompt: AgentPrompt) -> None:
    """One turn: a word and the time a piece, and a paragraph now and then."""
    pieces, pause = prompt.text.split()
    began = time.monotonic()
    for number in range(int(pieces)):
        conversation.pause(max(0.0, began + number * float(pause) - time.monotonic()))
        blank = "\n\n" if number % 40 == 39 else " "
        conversation.say("text", piece=f"{WORDS[number % len(WORDS)]} @{time.time() * 1000:.1f}@{blank}")
    conversation.say("text", piece="the end of it")


def main() -> None:
    """Talks until the input ends."""
    conversation = LineConversation()
    try:
        for prompt in conversation.prompts():
            conversation.turn(prompt, partial(play, conversation, prompt))
    except Gone:
        return


if __name__ == "__main__":
    main()
