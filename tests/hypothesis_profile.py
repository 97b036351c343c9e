"""How hypothesis searches: the same examples every time, or, with FARHAND_FUZZ, new ones."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fuzz" if os.environ.get("FARHAND_FUZZ") else "same")
