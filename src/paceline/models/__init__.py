"""Models: one small protocol for asking one, and adapters on the official SDKs.

    model("openai:gpt-5.4-mini", temperature=0).ask("Which is the capital of France?")  ->  Answer

`naming` says what models are called, `messages` what is said to them. An SDK is imported when a model of its
is first asked. Nothing here waits for a limit or sends a call again: that is what the pace does, below the
SDKs.
"""

from __future__ import annotations

from paceline.models.clients import close_clients
from paceline.models.function import Function
from paceline.models.messages import (
    Answer,
    AnswerNotJson,
    Assistant,
    Conversation,
    Image,
    Message,
    Model,
    Part,
    Stop,
    System,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    User,
)
from paceline.models.naming import looks_like_a_model, model
from paceline.pace.calls import Usage

__all__ = [
    "Answer",
    "AnswerNotJson",
    "Assistant",
    "Conversation",
    "Function",
    "Image",
    "Message",
    "Model",
    "Part",
    "Stop",
    "System",
    "Text",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Usage",
    "User",
    "close_clients",
    "looks_like_a_model",
    "model",
]
