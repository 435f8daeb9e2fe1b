"""Xue and others 2016: swarms that select within groups of features."""

from swarmrs.experiments._papers._held_out import ONE_VERSUS_REST, SCALED, SEQUENTIAL, TENTHS
from swarmrs.experiments._papers._paper import Handling, Mark, Paper, PaperTable, Setup

_NAME = "xue2016"
_PLAIN = Setup(
    "plain",
    {"All": "all", "PSOFS": "psofs"},
    "split70",
    {"preset": _NAME},
    accuracy="ovr_accuracy",
)
_GROUPED = Setup(
    "grouped",
    {"PSORWS": "psorws", "IGPSO": "igpso"},
    "split70",
    {"preset": _NAME},
    accuracy="ovr_accuracy",
    has_groups=True,
)
_SPLIT = (
    "Three of ten stratified folds are held out, as the printed accuracies imply; the split of the "
    "paper is not known: another split seed gives others. Features are not scaled."
)

PAPER = Paper(
    name=_NAME,
    title="swarms that select within groups of features (PSORWS, IGPSO)",
    proposed=("PSORWS", "IGPSO"),
    runs=40,
    protocol="30 particles, 100 iterations, 5-NN; 70 % of the rows searched, 30 % held out",
    missing="mean",
    handling={
        "lung_cancer_uci": TENTHS,
        "arrhythmia": Handling("13 of the 16 classes declared have rows"),
    },
    tables=(
        PaperTable(
            _NAME,
            "I",
            "data sets and their groups",
            notes=(
                "Ours are the feature clusters of the latent block model (lbm) on all rows; the "
                "searches are given as many as the paper found.",
            ),
        ),
        PaperTable(
            _NAME,
            "II",
            "accuracy on held-out rows",
            (_PLAIN, _GROUPED),
            marks={"vs_all": Mark("All")},
            notes=(
                ONE_VERSUS_REST,
                _SPLIT,
                "Features are clustered once, on the training rows, into as many groups as the "
                "paper has; the rows that it clustered are not known.",
            ),
        ),
        PaperTable(
            _NAME,
            "III",
            "sequential searches on held-out rows",
            (SEQUENTIAL,),
            notes=(
                ONE_VERSUS_REST,
                _SPLIT,
                SCALED,
            ),
        ),
    ),
)
