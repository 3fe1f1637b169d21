"""A worked example of schema "attention/1"; rivals but the first are left out."""

from typing import Any

ATTENTION_ANSWER: dict[str, Any] = {
    "schema": "attention/1",
    "model": {
        "id": "vitrail-en-fr",
        "revision": "1f0c",
        "layers": {"encoder": 6, "decoder": 2},
        "heads": 8,
        "norm": "pre",
        "position": "sinusoidal",
        "layer_kind": "layer",
    },
    "graph": "float32",
    "translated_by": "int8",
    "offset_unit": "codepoint",
    "word_rule": "vitrail-words/1",
    "caption": "Attention shows where weight was placed when each piece was predicted. It is not a reason and not a "
    "quality score.",
    "target_text": "Aidez !",
    "segments": [
        {
            "id": "s0",
            "finish_reason": "eos",
            "source": {
                "text": "Hello.",
                "span": [0, 6],
                "tokens": [
                    {"piece": ">>fr<<", "id": 5, "span": None, "word": None, "special": "tag"},
                    {"piece": "▁Hel", "id": 6364, "span": [0, 3], "word": 0, "special": None},
                    {"piece": "lo", "id": 528, "span": [3, 5], "word": 0, "special": None},
                    {"piece": ".", "id": 7909, "span": [5, 6], "word": 1, "special": None},
                    {"piece": "</s>", "id": 2, "span": None, "word": None, "special": "eos"},
                ],
                "words": [
                    {"text": "Hello", "span": [0, 5], "tokens": [1, 2]},
                    {"text": ".", "span": [5, 6], "tokens": [3]},
                ],
            },
            "target": {
                "text": "Aidez !",
                "span": [0, 7],
                "fed": ["<s>", "▁A", "ide", "z", "▁!"],
                "predicted": [
                    {
                        "piece": "▁A",
                        "id": 370,
                        "span": [0, 1],
                        "word": 0,
                        "special": None,
                        "logprob": -0.6454,
                        "rivals": [{"piece": "▁A", "id": 370, "logprob": -0.6454}],
                        "entropy": 2.7609,
                    },
                    {
                        "piece": "ide",
                        "id": 791,
                        "span": [1, 4],
                        "word": 0,
                        "special": None,
                        "logprob": -0.1342,
                        "rivals": [{"piece": "ide", "id": 791, "logprob": -0.1342}],
                        "entropy": 0.789,
                    },
                    {
                        "piece": "z",
                        "id": 7932,
                        "span": [4, 5],
                        "word": 0,
                        "special": None,
                        "logprob": -0.1734,
                        "rivals": [{"piece": "z", "id": 7932, "logprob": -0.1734}],
                        "entropy": 0.9852,
                    },
                    {
                        "piece": "▁!",
                        "id": 1183,
                        "span": [6, 7],
                        "word": 1,
                        "special": None,
                        "logprob": -1.0797,
                        "rivals": [{"piece": "▁!", "id": 1183, "logprob": -1.0797}],
                        "entropy": 2.9115,
                    },
                    {
                        "piece": "</s>",
                        "id": 2,
                        "span": None,
                        "word": None,
                        "special": "eos",
                        "logprob": -0.0759,
                        "rivals": [{"piece": "</s>", "id": 2, "logprob": -0.0759}],
                        "entropy": 0.9119,
                    },
                ],
                "words": [
                    {"text": "Aidez", "span": [0, 5], "tokens": [0, 1, 2]},
                    {"text": "!", "span": [6, 7], "tokens": [3]},
                ],
            },
            "attention": {
                "computed": "teacher_forced",
                "graph": "float32",
                "unit": "word",
                "special_tokens": "keep",
                "aggregate": {"heads": "mean", "layers": "none"},
                "maps": {
                    "cross": {
                        "axes": ["layer", "head", "query", "key"],
                        "query": "target.fed",
                        "key": "source.tokens",
                        "query_units": [[0], [1, 2, 3], [4]],
                        "key_units": [[0], [1, 2], [3], [4]],
                        "query_labels": ["<s>", "Aidez", "!"],
                        "key_labels": [">>fr<<", "Hello", ".", "</s>"],
                        "shape": [1, 1, 3, 4],
                        "layers": [1],
                        "heads": [0, 1, 2, 3, 4, 5, 6, 7],
                        "causal": False,
                        "normalized": True,
                        "encoding": "json",
                        "dtype": None,
                        "byte_order": None,
                        "order": None,
                        "data": [
                            [
                                [
                                    [0.0224, 0.9462, 0.013, 0.0184],
                                    [0.4503, 0.2746, 0.2257, 0.0495],
                                    [0.3449, 0.1137, 0.0825, 0.4589],
                                ]
                            ]
                        ],
                        "hidden_mass": None,
                    }
                },
            },
            "alignment": {
                "method": "predicted",
                "layer": 1,
                "heads": "mean",
                "unit": "word",
                "links": [
                    {"source": 0, "target": 0, "score": 0.4818},
                    {"source": 1, "target": 0, "score": 0.1082},
                    {"source": 1, "target": 1, "score": 0.3654},
                ],
                "pharaoh": "0-0 1-0 1-1",
                "marian": None,
                "azure": "0:4-0:4 5:5-0:4 5:5-6:6",
                "soft": [[0.4818, 0.1082], [0.3245, 0.3654]],
            },
            "signals": {
                "mean_logprob": -0.4217,
                "source_mass": [0.8063, 0.4736],
                "ignored_source_words": [],
                "eos_mass": 0.1252,
                "found": [],
            },
            "recased": False,
            "kept": [],
        }
    ],
}
