"""Attention maps: selection and pictures."""
