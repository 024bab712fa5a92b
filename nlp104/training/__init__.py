"""From batches to weights: loss, metrics, schedule, the training loop and its files."""

from nlp104.utils.lazy import attach

__all__, __getattr__, __dir__ = attach(
    __name__,
    {
        "checkpoints": ["average_checkpoints", "epoch_checkpoints"],
        "distribution": ["make_distribution"],
        "loop": ["train"],
        "loss": ["MaskedCrossentropy", "smoothed_crossentropy"],
        "metrics": ["MaskedAccuracy"],
        "optimizer": ["adam", "compile_model"],
        "run_record": ["read_record"],
        "schedule": ["WarmupSchedule"],
    },
)
