"""Vitrail: a translation server that people can look into."""

__version__ = "0.1.0"
