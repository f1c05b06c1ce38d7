"""From the dialect `ttir` to the library, in the later epochs."""
