from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from swarmrs.data._impute import Unfilled

__all__ = [
    "Cancel",
    "Dataset",
    "Evaluator",
    "__version__",
    "algorithms",
    "is_sound_parquet",
    "minimize",
    "price",
    "run",
]

__version__: str

@final
class Cancel:
    def __new__(cls) -> Cancel: ...
    def request(self) -> None: ...

@final
class Dataset:
    def __new__(
        cls,
        x: NDArray[np.float64],
        codes: NDArray[np.uint32],
        n_classes: int,
        names: list[str],
        scale: str,
        refill: Unfilled | None = None,
        numbers: NDArray[np.float64] | None = None,
    ) -> Dataset: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def rank(
        self, threads: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.uint32]]: ...
    def f_scores(
        self, features: list[int], threads: int, rows: list[int] | None = None
    ) -> NDArray[np.float64]: ...
    def mrmr(
        self, features: list[int], most: int, threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...
    def relieff(self, features: list[int], neighbors: int, threads: int) -> NDArray[np.float64]: ...
    def survivors(self, rule: str, limit: int, threads: int) -> list[int]: ...
    def constant(self, evaluation: str, class_: int) -> list[tuple[str, float]]: ...
    def training_mean(self, evaluation: str) -> list[tuple[str, float]]: ...
    def ridge_rfe(self, features: list[int], alpha: float | None, threads: int) -> list[int]: ...
    def ridge_sfs(
        self, features: list[int], n_steps: int, alpha: float | None, threads: int
    ) -> list[int]: ...
    def group(self, spec: str, threads: int) -> str: ...

@final
class Evaluator:
    def __new__(
        cls, dataset: Dataset, evaluation: str, threads: int, memory: int, incremental: bool
    ) -> Evaluator: ...
    @property
    def scores(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    def measure(self, masks: NDArray[np.bool_]) -> NDArray[np.float64]: ...
    def predict(
        self, mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...
    def predict_numbers(
        self, mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint32]]: ...
    def distribution(
        self, mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]: ...
    def work(self) -> tuple[int, int, int]: ...

def run(
    dataset: Dataset,
    spec: str,
    *,
    threads: int,
    checkpoint: str | None = None,
    callback: Callable[[Any], bool | None] | None = None,
    scorer: Callable[[NDArray[np.bool_]], Sequence[float]] | None = None,
    keep_all: bool = False,
    cancel: Cancel | None = None,
) -> tuple[
    str,
    tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]] | None,
]: ...
def price(
    dataset: Dataset,
    spec: str,
    masks: NDArray[np.bool_],
    *,
    threads: int,
    scorer: Callable[[NDArray[np.bool_]], Sequence[float]] | None = None,
    seconds: float | None = None,
    cancel: Cancel | None = None,
) -> str | None: ...
def minimize(
    cost: Callable[[NDArray[np.bool_]], Sequence[float]],
    n_bits: int,
    spec: str,
    *,
    checkpoint: str | None = None,
    callback: Callable[[Any], bool | None] | None = None,
) -> str: ...
def algorithms() -> str: ...
def is_sound_parquet(file: bytes, limit: int) -> bool: ...
