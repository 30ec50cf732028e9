"""Work with the matches of a store: lists, replays against the rules, exports, and merging of stores."""
