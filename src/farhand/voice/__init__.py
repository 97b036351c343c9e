"""Speech to text, by a service that speaks OpenAI's protocol or by a program of the manager's own."""
