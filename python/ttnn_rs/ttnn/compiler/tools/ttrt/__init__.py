"""The commands of `ttrt` and the classes behind them."""
