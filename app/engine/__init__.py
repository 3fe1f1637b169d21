"""Search and scheduling over any step model: numpy and ``app.errors`` only."""
