"""Learning rate over time."""

from model.config import TrainingConfig


def learning_rate(step: int, config: TrainingConfig) -> float:
    """Linear warm-up, then inverse square root decay (Vaswani et al. 2017, equation 3), then a linear cool-down.

    Scaled so that the peak, reached at ``warmup_steps``, is ``peak_learning_rate``. Over the last
    ``cooldown_steps`` of ``max_steps`` the rate falls to zero in a straight line.
    """
    position = step + 1
    rate: float = config.peak_learning_rate * min(
        position / config.warmup_steps, (config.warmup_steps / position) ** 0.5
    )
    remaining = config.max_steps - step
    if config.cooldown_steps and remaining < config.cooldown_steps:
        rate *= max(remaining, 0) / config.cooldown_steps
    return rate
