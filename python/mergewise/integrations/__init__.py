"""mergewise behind the interfaces of other libraries."""
