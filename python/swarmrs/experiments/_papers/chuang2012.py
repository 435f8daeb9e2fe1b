"""Chuang and others 2012: complementary distribution binary PSO."""

from swarmrs.experiments._papers._paper import Paper, PaperTable, Setup

_NAME = "chuang2012"
_LOO = Setup(
    "loo",
    {"CD-BPSO": "cdbpso"},
    "loo",
    {"preset": _NAME},
)

PAPER = Paper(
    name=_NAME,
    title="complementary distribution binary PSO (CD-BPSO)",
    proposed=("CD-BPSO",),
    runs=10,
    protocol="20 particles, 100 generations, 1-NN with leave-one-out",
    tables=(
        PaperTable(
            _NAME,
            "2",
            "leave-one-out accuracy",
            (_LOO,),
            notes=(
                "The three figures that the text gives; the table itself is not available.",
                "Accuracy is the leave-one-out accuracy that the search maximized (optimistic); no "
                "rows were held out. The paper does not say how many runs it has: here they are "
                "10.",
                "Features are scaled to 0..1: the figure of wine is out of reach without.",
            ),
        ),
    ),
)
