"""Exact answers: closed forms, and integrations of other kinds where there is none. Nothing here takes the simulator."""
