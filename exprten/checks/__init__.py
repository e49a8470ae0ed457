"""Statements looked at while they run: who made a node, where the first NaN is from, what the interpreter says."""
