"""Downloads the photos and files that people send on Telegram."""

from telegram.error import BadRequest, TelegramError

from farhand.channels.kit.surface import NotFetched, SentFile
from farhand.channels.telegram.gateway import Gateway
from farhand.model.logger import get_logger
from farhand.model.ports import Clock

log = get_logger("telegram")
# Some twenty seconds in all: a wobble of the network passes, and what comes after does not wait for ever.
TRIES = 8
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0


async def download(gateway: Gateway, clock: Clock, file: SentFile) -> bytes:
    """The file's content, tried again while Telegram cannot be reached; raises NotFetched."""
    pause = FIRST_PAUSE_SECONDS
    for _ in range(TRIES):
        try:
            found = await gateway.bot.get_file(file.reference)
            return bytes(await found.download_as_bytearray())
        except BadRequest as error:
            raise NotFetched(gateway.redacted(error)) from None
        except TelegramError as error:
            log.info("download failed", error=gateway.redacted(error))
            await clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
    raise NotFetched("Telegram cannot be reached.")
