"""Xue and others 2014: probability-based binary PSO against binary PSO and sequential searches."""

from swarmrs.experiments._papers._held_out import ONE_VERSUS_REST, SCALED, SEQUENTIAL, TENTHS
from swarmrs.experiments._papers._paper import Handling, Mark, Paper, PaperTable, Setup

_NAME = "xue2014"
_SWARMS = Setup(
    "swarms",
    {"All": "all", "BPSOfs": "bpsofs", "PBPSOfs": "pbpsofs"},
    "split70",
    {"preset": _NAME},
    accuracy="ovr_accuracy",
)
_SPLIT = (
    "Seven of ten stratified folds are searched, the others held out; the split of the paper was "
    "not stratified, and is not known. Features are not scaled."
)

PAPER = Paper(
    name=_NAME,
    title="probability-based binary PSO (PBPSO)",
    proposed=("PBPSOfs",),
    runs=40,
    protocol="50 particles, 100 iterations, 5-NN; 70 % of the rows searched, 30 % held out",
    missing="mean",
    handling={
        "zoo": Handling("the 17 features of the paper include the animal name, left out here"),
        "lung_cancer_uci": TENTHS,
        "hill_valley": Handling("the file without noise; the paper does not say which it used"),
        "madelon": Handling("2600 rows have public labels; the paper counts 4400"),
        "isolet5": Handling("26 classes; the paper prints 2"),
    },
    tables=(
        PaperTable(
            _NAME,
            "2",
            "accuracy on held-out rows",
            (_SWARMS,),
            marks={"vs_all": Mark("All"), "vs_bpsofs": Mark("BPSOfs")},
            notes=(ONE_VERSUS_REST, _SPLIT),
        ),
        PaperTable(
            _NAME,
            "3",
            "sequential searches on held-out rows",
            (SEQUENTIAL, _SWARMS),
            marks={"vs_pbpsofs": Mark("PBPSOfs", is_reversed=True)},
            notes=(ONE_VERSUS_REST, _SPLIT, SCALED),
        ),
        PaperTable(
            _NAME,
            "4",
            "accuracy on training rows",
            (_SWARMS,),
            marks={"vs_all": Mark("All"), "vs_bpsofs": Mark("BPSOfs")},
            tested="train_accuracy",
            notes=(
                ONE_VERSUS_REST,
                "Training accuracy is resubstitution accuracy: each training row is its own "
                "nearest neighbor; cross-validated accuracy is lower.",
                "For australian and zoo the paper prints = for PBPSOfs against all, which its means"
                " contradict.",
                "The paper's minutes are of another machine.",
            ),
        ),
    ),
)
