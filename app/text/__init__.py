"""Text in and out of the model: normalisation, sentence splitting, subword pieces."""
