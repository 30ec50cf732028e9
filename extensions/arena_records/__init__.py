"""Commands for the matches in a store. They list matches, show one and check it by the rules, export matches for other programs,
and merge stores.
"""
