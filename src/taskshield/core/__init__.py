"""Values and protocols shared by every layer. Standard library only.

Eighteen modules in one folder, because each is one noun of the contract between the layers and
all are read side by side:

- what is said: `levels`, `messages`, `tools`, `instructions`
- what is judged: `judge`, `judge_options`, `assessments`, `completeness`, `history`
- what a session knows: `session_state`
- what models answer: `chat`, `usage`
- what is decided and stored: `policy`, `decisions`, `store`, `errors`
- texts: `quotations`, `safe_text`
"""
