"""What every surface answers alike to a question about the team: chats, the terminal conversation, the terminal app."""

import time
from typing import assert_never

from farhand.channels.kit import overview, queue_texts, texts
from farhand.channels.kit.review_texts import review_text
from farhand.channels.kit.sprint_texts import sprint_text
from farhand.model.present import Present
from farhand.model.quiet import settings_words
from farhand.model.slash import Surface
from farhand.model.wishes import SharedTopic


def shared_answer(topic: SharedTopic, of: str, present: Present, surface: Surface) -> str:
    """The answer to a question about that worker, or about the focused one where none is named."""
    worker = present.workers.get(of or present.focus)
    match topic:
        case "queue":
            return queue_texts.queue(present, of)
        case "usage":
            return overview.usage(present)
        case "inbox":
            return overview.inbox(present, review="review" if surface.find("review") else "verdict")
        case "quiet":
            return settings_words(present.attention, time.time())
        case "mode":
            return overview.settings_of(worker) if worker else texts.NOBODY_ASSIGNED
        case "sprint":
            return sprint_text(worker, time.time())
        case "review":
            return review_text(worker)
        case _:
            assert_never(topic)
