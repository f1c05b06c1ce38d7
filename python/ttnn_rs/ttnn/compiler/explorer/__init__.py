"""`tt-explorer`: compiled programs, times and layouts as graphs in a browser.

The page and its server are those of Model Explorer; this package is the adapter and the data.
"""
