"""Other programs that look into the store of a running node take nothing away from it."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import anyio
import pytest

from farhand.client.door import SocketHub
from farhand.testing.house import open_house

pytestmark = pytest.mark.anyio
# Opens the store, reads, and closes it: whoever is the last to do that tidies up what the others have written.
LOOK = (
    "import sqlite3, sys; store = sqlite3.connect(sys.argv[1]);"
    " print(store.execute('SELECT count(*) FROM events').fetchone()[0]); store.close()"
)


async def look(store: Path) -> int:
    done = await anyio.run_process([sys.executable, "-I", "-S", "-c", LOOK, str(store)])
    return int(done.stdout)


async def test_whoever_looks_into_the_store_leaves_what_is_not_written_into_it_yet(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        store = house.node.settings.store
        log = store.with_name(f"{store.name}-wal")
        before = log.stat().st_ino
        assert await look(store) >= 0
        assert log.exists(), "the node writes into a file that is gone"
        assert log.stat().st_ino == before
        await house.hire("ann")
        async with SocketHub(house.node.settings.door) as hub:
            await hub.pair()
        # What the node has written is there for everybody who opens the store anew.
        reader = sqlite3.connect(store)
        try:
            assert reader.execute("SELECT count(*) FROM events").fetchone()[0] == await look(store) > 0
        finally:
            reader.close()
        assert log.stat().st_ino == before
