"""The engine behind HTTP, in the words of OpenAI's API."""
