"""Language models behind an OpenAI-compatible address, as agents."""
