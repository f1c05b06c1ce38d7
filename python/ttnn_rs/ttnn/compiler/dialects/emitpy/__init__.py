"""The dialect whose operations are statements of Python."""
