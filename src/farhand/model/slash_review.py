"""How `/review` is read: whose work, what of it, by whom; sent back, judged again, cancelled. Pure."""

from farhand.model import commands
from farhand.model.errors import BadInput
from farhand.model.review import ReviewScope, ReviewState, findings_of
from farhand.model.slash_argument import SlashArgument, find_worker, reviewers_of
from farhand.model.wishes import InfoRequest, Wish

REVIEW_USAGE = "[name] [tree, turn, answer, commits <base..head>, again, send <1,3>, cancel or status]"
REVIEW_FLAGS = "[--by <reviewers>] [note]"
_SCOPES = {"tree", "turn", "answer", "commits"}


def read_review(argument: SlashArgument) -> Wish:
    """Without words it is what differs from the last commit, of the focused worker."""
    words = argument.words()
    worker = find_worker(words[0], argument.present) if words else ""
    words = words[1:] if worker else words
    verb = words[0].lower() if words else ""
    rest = words[1:]
    match verb:
        case "status":
            return InfoRequest(id=argument.id, about="review", of=worker)
        case "cancel" | "stop":
            return commands.CancelReview(id=argument.id, worker=worker, review=rest[0] if rest else "")
        case "send":
            keys = _keys(argument, worker, rest[0] if rest else "")
            return commands.SendFindings(
                id=argument.id, worker=worker, review="", findings=keys, note=" ".join(rest[1:])
            )
        case "again":
            by, note = _flags(rest)
            newest = _newest(argument, worker)
            return commands.Review(id=argument.id, worker=worker, again=newest.id, by=by, note=note)
        case _:
            return _review(argument, worker, words)


def _review(argument: SlashArgument, worker: str, words: list[str]) -> commands.Review:
    scope = words.pop(0).lower() if words and words[0].lower() in _SCOPES else "tree"
    base = head = ""
    if scope == "commits" and words and not words[0].startswith("-"):
        base, dots, head = words.pop(0).partition("..")
        base, head = (base, head.lstrip(".") or "HEAD") if dots else ("", base)
    by, note = _flags(words)
    return commands.Review(
        id=argument.id, worker=worker, scope=ReviewScope(scope), base=base, head=head, by=by, note=note
    )


def _flags(words: list[str]) -> tuple[tuple[str, ...], str]:
    """Who judges, and what the reviewers are told beside."""
    by: tuple[str, ...] = ()
    note: list[str] = []
    left = iter(words)
    for word in left:
        option, equals, value = word.partition("=")
        if option == "--by":
            by = reviewers_of(value if equals else next(left, ""))
        elif word.startswith("--"):
            raise BadInput(f"There is no flag {word}; --by names the reviewers.")
        else:
            note.append(word)
    return by, " ".join(note)


def _newest(argument: SlashArgument, worker: str) -> ReviewState:
    found = argument.present.workers.get(worker or argument.present.focus)
    if found is None or not found.reviews:
        raise BadInput("There is no review yet.")
    return found.reviews[-1]


def _keys(argument: SlashArgument, worker: str, numbers: str) -> tuple[str, ...]:
    """The findings that have these numbers in the newest review; none for all of them."""
    known = [key for key, _ in findings_of(_newest(argument, worker))]
    if not numbers or numbers == "all":
        return ()
    given = numbers.split(",")
    if not all(one.isascii() and one.isdigit() and 0 < int(one[:4]) <= len(known) for one in given):
        raise BadInput(f"The newest review has findings 1 to {len(known)}." if known else "It has no findings.")
    return tuple(known[int(one) - 1] for one in given)
