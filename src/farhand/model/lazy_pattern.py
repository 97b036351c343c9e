"""Regular expressions that are compiled at their first use: a start needs hardly any of them, and each takes time."""

import re
from typing import Any, AnyStr, cast

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _LazyPattern:
    """Becomes the compiled pattern, as far as its methods go, when the first of them is asked for."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        # From now on they are found without coming here.
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The same as `re.compile` to whoever searches, matches, splits or replaces with it."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
