"""What agents that run in Bun are told in tests: each is ended long before it pays for compilers and collectors."""

import os

# So much memory for each of the three tests that run on a core, or garbage is collected as usual.
ROOMY_BYTES = 2 * 1024**3


def collector(memory: int, cores: int) -> dict[str, str]:
    """Without a garbage collector a start of OpenCode needs a quarter less processor time, and Claude Code a tenth;
    after a turn OpenCode then holds 0.65 GB in place of 0.36 GB, and with its screen 0.9 GB in place of 0.54 GB."""
    return {"BUN_JSC_useGC": "0"} if memory >= 3 * cores * ROOMY_BYTES else {}


SHORT_LIVED = {
    # A test is over before optimized code is worth its making, and several threads that collect garbage.
    "BUN_JSC_useDFGJIT": "0",
    "BUN_JSC_useConcurrentGC": "0",
    "BUN_JSC_numberOfGCMarkers": "1",
    **collector(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), os.cpu_count() or 1),
}
# What a figure is measured with: the agent as a person has it.
AS_SHIPPED: dict[str, str] = {}
