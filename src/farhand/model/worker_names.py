"""What a worker may be called: the names of commands are taken."""

from farhand.model.errors import BadName
from farhand.model.grammar import EVERYBODY
from farhand.model.names import LONGEST, normalize
from farhand.model.review import is_reviewer
from farhand.model.slash import INTERACTIVE, names

# Commands of `farhand` that no slash command mirrors, and names that commands may get.
CLI_COMMANDS = frozenset(
    (
        "adapter agents answer ask bridge chat clean completion devices doctor events hook logs pair remote restart "
        "run sandbox say service setup status tui webhook whatsapp"
    ).split()
)
COMING = frozenset("bench fleet hooks mcp skills undo version".split())
RESERVED = (
    names()
    | INTERACTIVE
    | CLI_COMMANDS
    | COMING
    | {EVERYBODY, "farhand", "manager", "me", "node", "nobody", "none", "self", "system"}
)


def worker_name(name: str) -> str:
    """The normalized name of a worker, or BadName with what would have worked."""
    clean = normalize(name)
    if not clean:
        raise BadName("Name must use letters, numbers, and hyphens only.", name=name)
    if len(clean) > LONGEST:
        raise BadName(f"'{clean}' has {len(clean)} characters; {LONGEST} is the limit for a name.", name=name)
    if is_reviewer(clean):
        raise BadName(f"'{clean}' is a name of reviewers; leave out the 'judges'.", name=name)
    if clean in RESERVED:
        raise BadName(f'Cannot use "{clean}" - reserved command. Choose another name.', name=name)
    return clean
