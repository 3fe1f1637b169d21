import pytest

from model.config import TrainingConfig
from model.schedule import learning_rate

CONFIG = TrainingConfig(peak_learning_rate=1e-3, warmup_steps=100, max_steps=1_000, cooldown_steps=200)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (0, 1e-5),  # a hundredth of the peak
        (49, 5e-4),  # half way up
        (99, 1e-3),  # the peak
        (399, 5e-4),  # four times the warm-up: half the peak
        (800, 1e-3 * (100 / 801) ** 0.5),  # the cool-down has not begun
        (900, 1e-3 * (100 / 901) ** 0.5 / 2),  # half of the cool-down is over
        (1_000, 0.0),
    ],
)
def test_learning_rate_by_hand(step: int, expected: float) -> None:
    assert learning_rate(step, CONFIG) == pytest.approx(expected)
