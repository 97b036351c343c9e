"""A message as text for an agent that takes no attachments: its files are named by their paths. Pure."""

from __future__ import annotations

from farhand.model.present import Message
from farhand.model.words import Attachment


def prompt_text(message: Message) -> str:
    """A message as the agent gets it: its text, then where its files are, unless the text says so already."""
    unnamed = [one for one in message.attachments if one.path not in message.text]
    return "\n\n".join([part for part in (message.text, *map(_file, unnamed)) if part.strip()])


def _file(attachment: Attachment) -> str:
    caption = f"{attachment.caption}\n\n" if attachment.caption else ""
    if attachment.media_type.startswith("image/"):
        return f"{caption}Manager sent image: {attachment.path}"
    name = attachment.name or attachment.path.rpartition("/")[2]
    kind = f" ({attachment.media_type})" if attachment.media_type else ""
    return f"{caption}Manager sent file: {name}{kind}\nPath: {attachment.path}"
