"""The formats that follow the results so far: Swiss system, knockout, and head-to-head with its test."""
