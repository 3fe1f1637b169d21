"""The Transformer, its training and its evaluation (needs torch; serving never imports it)."""
