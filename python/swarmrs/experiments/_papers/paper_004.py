"""Paper 004: complementary distribution binary PSO."""

from swarmrs.experiments._papers._paper import Paper, PaperTable, Study

_LOO = Study(
    "loo",
    {"CD-BPSO": "cdbpso"},
    "loo",
    {"preset": "004"},
)

PAPER = Paper(
    number="004",
    title="complementary distribution binary PSO (CD-BPSO)",
    runs=10,
    protocol="20 particles, 100 generations, 1-NN by leaving out one row at a time",
    tables=(
        PaperTable(
            "004",
            "2",
            "accuracy by leaving one out",
            (_LOO,),
            notes=(
                "The three figures that the text names; the table itself is not at hand.",
                "Accuracy is what the search raised, on the same rows; none were held out. The "
                "paper does not say how many runs it took: here they are 10.",
                "Values are scaled to 0..1: the figure of wine is out of reach without.",
            ),
        ),
    ),
)
