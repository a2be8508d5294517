"""The engine behind HTTP, in the words of OpenAI's API.

With ``stacklib serve --port 8000`` in one window and ``pip install openai`` in
another, ask for JSON and get nothing else::

    from openai import OpenAI

    client = OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="none")
    answer = client.chat.completions.create(
        model="tiny",
        messages=[{"role": "user", "content": "Return a list of"}],
        max_tokens=40,
        response_format={"type": "json_object"},
    )
    print(answer.choices[0].message.content, answer.usage.completion_tokens)
"""
