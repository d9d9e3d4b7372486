"""Hypothesis profiles: `HYPOTHESIS_PROFILE=slow` tries many more examples than `fast`."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("fast", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("slow", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
