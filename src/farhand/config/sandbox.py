"""How the workers of a node are sandboxed, read from the environment."""

from collections.abc import Mapping

from farhand.model.errors import SettingWrong
from farhand.model.sandbox import IMAGE, SandboxEngine, SandboxLimits, SandboxOptions, read_mounts
from farhand.model.variables import is_yes, number


def read_sandbox(environ: Mapping[str, str]) -> SandboxOptions:
    """As the variables say."""
    given = environ.get("FARHAND_SANDBOX_ENGINE", "").strip().lower() or SandboxEngine.AUTO
    if given not in set(SandboxEngine):
        known = ", ".join(SandboxEngine)
        raise SettingWrong(f"FARHAND_SANDBOX_ENGINE is one of {known}, not '{given}'.", name="FARHAND_SANDBOX_ENGINE")
    home = environ.get("FARHAND_SANDBOX_HOME", "").strip()
    return SandboxOptions(
        enabled=is_yes(environ.get("SANDBOX_ENABLED", "")),
        engine=SandboxEngine(given),
        image=environ.get("SANDBOX_IMAGE", "").strip() or IMAGE,
        mounts=read_mounts(environ.get("SANDBOX_MOUNTS", ""), environ.get("HOME", "/")),
        limits=SandboxLimits(
            memory=environ.get("FARHAND_SANDBOX_MEMORY", "").strip(),
            pids=int(number(environ, "FARHAND_SANDBOX_PIDS", 0, least=0)),
            cpus=environ.get("FARHAND_SANDBOX_CPUS", "").strip(),
            network=environ.get("FARHAND_SANDBOX_NETWORK", "").strip(),
            read_only=is_yes(environ.get("FARHAND_SANDBOX_READ_ONLY", "")),
        ),
        home=not home or is_yes(home),
    )
