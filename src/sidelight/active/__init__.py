"""QUESTIONS: what to ask a person next, and what the answers change. Nothing lives here yet."""
