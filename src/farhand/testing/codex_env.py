"""An environment for the real Codex: settings that name a fake model, and a home that is not a temporary one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from farhand.testing.cli_env import CliEnv
from farhand.testing.models.responses import FakeResponses

MODEL = "fake-model"
SETTINGS = """model = "{model}"
model_provider = "fake"

[model_providers.fake]
name = "Fake"
base_url = "{address}/v1"
env_key = "FAKE_MODEL_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


def codex_settings(address: str, model: str = MODEL) -> str:
    """Settings that name the fake model at that address."""
    return SETTINGS.format(model=model, address=address)


@contextmanager
def lasting_home(preferred: Path) -> Iterator[Path]:
    """A throwaway HOME outside of the temporary folder: Codex runs no sandbox from within that. It is removed after."""
    temporary = Path(tempfile.gettempdir()).resolve()
    places = [preferred.resolve(), Path.home().resolve() / ".cache"]
    place = next((one for one in places if not one.is_relative_to(temporary)), preferred)
    place.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="home-", dir=place))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


class CodexEnv(CliEnv):
    """An isolated environment for Codex."""

    package = "codex"

    def __init__(
        self,
        folder: Path,
        home: Path,
        server: tuple[str, ...],
        model: FakeResponses,
        address: str,
        programs: Path,
    ) -> None:
        self.model = model
        self.script = model.script
        super().__init__(folder, home, server, programs, {"FAKE_MODEL_KEY": "fake"})
        self.settings = home / ".codex" / "config.toml"
        self.settings.parent.mkdir()
        self.settings.write_text(codex_settings(address))
