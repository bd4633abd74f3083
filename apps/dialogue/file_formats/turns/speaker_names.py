"""Which role a person or program has whom a text names: Priya (customer), Support - Joel."""

import re
from collections.abc import Iterable
from typing import Final, Literal

SpokenRole = Literal["system", "user", "assistant", "tool"]

WORDS: Final[dict[str, SpokenRole]] = {
    "system": "system", "system prompt": "system", "developer": "system", "instructions": "system",
    "user": "user", "human": "user", "you": "user", "me": "user", "prompt": "user",
    "prompter": "user", "customer": "user", "client": "user",
    "assistant": "assistant", "ai": "assistant", "bot": "assistant", "chatbot": "assistant",
    "model": "assistant", "llm": "assistant", "gpt": "assistant", "chatgpt": "assistant",
    "gpt-4": "assistant", "gpt-4o": "assistant", "gpt-5": "assistant", "claude": "assistant",
    "gemini": "assistant", "bard": "assistant", "copilot": "assistant", "grok": "assistant",
    "mistral": "assistant", "llama": "assistant", "deepseek": "assistant", "agent": "assistant",
    "response": "assistant", "completion": "assistant", "ai assistant": "assistant",
    "tool": "tool", "function": "tool", "tool result": "tool", "tool output": "tool",
    "tool response": "tool", "function result": "tool", "observation": "tool", "result": "tool",
    "benutzer": "user", "nutzer": "user", "usuario": "user", "utilisateur": "user",
    "utente": "user", "usuário": "user", "пользователь": "user",
    "用户": "user", "用戶": "user", "人类": "user", "ユーザー": "user", "사용자": "user",
    "assistent": "assistant", "asistente": "assistant", "assistente": "assistant",
    "ассистент": "assistant", "助手": "assistant", "助理": "assistant",
    "アシスタント": "assistant", "어시스턴트": "assistant",
    "système": "system", "sistema": "system", "系统": "system", "系統": "system",
}  # fmt: skip
"""Words that stand alone for a speaker, in lower case; also those of some other languages."""

EVERYDAY: Final[dict[str, SpokenRole]] = {
    word: role
    for word, role in WORDS.items()
    if role in ("system", "tool")
    or word in ("prompt", "model", "agent", "response", "completion", "customer", "client")
}
"""The words among them that stand before a colon in prose and lists as well."""

LETTERS: Final[dict[str, SpokenRole]] = {
    "s": "system", "u": "user", "h": "user", "q": "user", "a": "assistant", "t": "tool"
}  # fmt: skip
"""Letters that stand for a speaker, where a whole text writes them so."""

_WITHIN: Final[dict[str, SpokenRole]] = {
    **{word: role for word, role in WORDS.items() if role in ("user", "assistant")},
    "caller": "user", "visitor": "user", "guest": "user", "student": "user", "patient": "user",
    "buyer": "user", "applicant": "user", "requester": "user", "member": "user",
    "support": "assistant", "operator": "assistant", "representative": "assistant",
    "rep": "assistant", "helpdesk": "assistant", "advisor": "assistant", "adviser": "assistant",
    "staff": "assistant", "service": "assistant", "tutor": "assistant", "teacher": "assistant",
    "doctor": "assistant", "specialist": "assistant", "technician": "assistant",
}  # fmt: skip
_WORD = re.compile(r"[^\W_]+")


def known_role(name: str) -> SpokenRole | None:
    """Return the role that a name says by itself, None where it is a name of somebody."""
    return WORDS.get(name.strip().lower().replace("_", " "))


def roles_of_names(names: Iterable[str]) -> dict[str, SpokenRole]:
    """Return a role for each name, in the order in which they first speak.

    A word in the name decides; else the first one without a role is the user if there is none yet,
    the next one the assistant, and any other a user.
    """
    found: dict[str, SpokenRole | None] = {name: _told(name) for name in dict.fromkeys(names)}
    taken = {role for role in found.values() if role}
    decided: dict[str, SpokenRole] = {}
    for name, told in found.items():
        role = told or ("assistant" if "user" in taken and "assistant" not in taken else "user")
        taken.add(role)
        decided[name] = role
    return decided


def _told(name: str) -> SpokenRole | None:
    if role := known_role(name):
        return role
    words = [word.lower() for word in _WORD.findall(name)]
    return next((_WITHIN[word] for word in words if word in _WITHIN), None)
