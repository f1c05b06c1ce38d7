"""The dialect of the TT-NN library."""
