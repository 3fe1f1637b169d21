"""A made-up language pair and a model that learns it in seconds."""

from model.config import RunConfig, run_config

WORDS = {
    "the": "le", "cat": "chat", "dog": "chien", "sees": "voit", "a": "un", "red": "rouge", "house": "maison",
    "eats": "mange", "big": "grand", "apple": "pomme", "little": "petit", "bird": "oiseau", "sings": "chante",
    "here": "ici", "now": "maintenant", "we": "nous", "you": "vous", "are": "sommes", "happy": "content",
}  # fmt: skip


def tiny_config(**training: object) -> RunConfig:
    return run_config(
        {
            "transformer": {
                "vocab_size": 340,
                "encoder_layers": 2,
                "decoder_layers": 2,
                "d_model": 32,
                "heads": 4,
                "d_ff": 64,
                "norm": "pre",
                "max_positions": 64,
            },
            "training": {
                "batch_tokens": 120,
                "max_pieces": 40,
                "warmup_steps": 10,
                "held_out_pairs": 6,
                "max_steps": 6,
                "checkpoint_every": 3,
                "validation_every": 1000,
            }
            | training,
        }
    )
