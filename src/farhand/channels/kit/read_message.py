"""What a message on a chat asks for: the team's grammar, with replies and edits as chats have them. Pure."""

from farhand.channels.kit.surface import ChatMessage
from farhand.model import commands, grammar
from farhand.model.grammar import CHAT
from farhand.model.present import Present
from farhand.model.slash import Surface
from farhand.model.wishes import Tell, Wish


def read_message(message: ChatMessage, present: Present, surface: Surface = CHAT) -> Wish | None:
    """What a message asks for; nothing when it says nothing that we understand. An edit rewords a message to a
    worker, and nothing else."""
    wish = _read_text(message, present, surface)
    if not message.edits:
        return wish
    if not isinstance(wish, Tell) or message.file is not None:
        return None
    return commands.Reword(id=message.id, message=message.edits, text=wish.text)


def _read_text(message: ChatMessage, present: Present, surface: Surface) -> Wish | None:
    text = message.text or message.caption
    if message.foreign:
        return Tell(id=message.id, text=text, needs_focus=True) if text.strip() else None
    wish = grammar.read(message.id, text, present, surface)
    context = message.quoted.text if message.quoted else ""
    is_bare = isinstance(wish, Tell) and not wish.worker and not wish.everybody and not text.startswith("/")
    return grammar.read_reply(message.id, text, context, present) if is_bare and context.strip() else wish
