"""A Tenstorrent device without the card: the names of TT-NN, the bits of the chip."""
