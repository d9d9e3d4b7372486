"""Modules with the names of other libraries, for their own tests; see `peer_suites.py`."""
