"""Statements with matrix products: what is called, with which arguments."""
