"""What every surface answers alike to a question about the team: chats, the terminal conversation, the terminal app."""

import time

from farhand.channels.kit import overview, queue_texts, texts
from farhand.channels.kit.review_texts import review_text
from farhand.channels.kit.sprint_texts import sprint_text
from farhand.model.present import Present
from farhand.model.quiet import settings_words
from farhand.model.slash import Surface
from farhand.model.wishes import InfoRequest


def shared_answer(question: InfoRequest, present: Present, surface: Surface) -> str | None:
    """The answer; None for a question that each surface has its own words for."""
    worker = present.workers.get(question.of or present.focus)
    match question.about:
        case "queue":
            return queue_texts.queue(present, question.of)
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
            return None
