"""One engine for HPC performance data: columns of any dataset for numpy, pandas, polars and everything that takes Arrow.

    import fathom
    ds = fathom.open("run.cubex")
    ds.table("value", metric="time", location=range(8)).to_pandas()
    ds.profile.tree(), ds.profile.top()
    ds.sql("SELECT * FROM hot_region LIMIT 5").to_pandas()
    fathom.model("runs/", modeler="robust").predict(p=4096)
"""
from ._native import Error, RefusedError, UsageError, version
from .dataset import Dataset, open
from .levels import Node, Profile, Trace, diff
from .models import Models, model
from .table import Batch, Table, Texts

__version__ = version()
__all__ = ["Batch", "Dataset", "Error", "Models", "Node", "Profile", "RefusedError", "Table", "Texts", "Trace",
           "UsageError", "diff", "model", "open", "version"]
