"""Further passes of the dialect `ttir`: types, arguments, broadcasts, truth values, windows."""
