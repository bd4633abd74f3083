"""Environments, tools, splits, tasks, revisions."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator
from pydantic_core import PydanticCustomError

from apps.api.bodies.accounts import Slug
from apps.api.bodies.base import NEXT, Answer
from apps.api.parsing import Body, Query
from apps.dialogue.message import Message
from apps.tasks.content import TaskContent, parse_content

StatusName = Literal["draft", "ready", "archived"]
SplitTypeName = Literal["train", "validation", "test"]
ToolKindName = Literal["answer", "scripted"]
Scorers = Annotated[
    list[dict[str, Any]], Field(description="Scorer objects, like {type: string_equals, ...}")
]


class Split(Answer):
    name: str
    type: SplitTypeName
    task_count: int = Field(description="Tasks, archived ones left out")
    ready_count: int = Field(description="Tasks that harnesses are served")


class SplitList(Answer):
    items: list[Split]


class NewSplit(Body):
    name: str = Field(min_length=1, max_length=64)
    type: SplitTypeName | None = Field(
        None, description="Left out: what its name says, else validation"
    )


class Tool(Answer):
    """A tool that harnesses may call; a terminal one is fed with the model's plain message."""

    name: str
    kind: str
    description: str
    input_schema: dict[str, Any] | None
    argument: str | None = Field(description="The one argument that an answer tool grades")
    is_terminal: bool
    ends_episode: bool
    config: dict[str, Any]


class ToolList(Answer):
    items: list[Tool]


class NewTool(Body):
    name: str = Field(min_length=1, max_length=128)
    kind: ToolKindName
    description: str = Field("", max_length=10_000)
    input_schema: dict[str, Any] | None = Field(None, description="JSON Schema; null: none")
    argument: str | None = Field(None, max_length=128)
    is_terminal: bool = False
    ends_episode: bool = True
    config: dict[str, Any] = {}


class NewTools(Body):
    tools: list[NewTool] = Field(max_length=200, description="All tools, in their order")


class Environment(Answer):
    slug: str
    name: str
    description: str
    is_default: bool
    offers_submit: bool
    supports_score_group: bool
    scorers: list[dict[str, Any]]
    splits: list[Split]
    created_at: datetime


class EnvironmentList(Answer):
    items: list[Environment]


class NewEnvironment(Body):
    slug: Slug
    name: str = Field("", max_length=200)
    description: str = Field("", max_length=10_000)
    scorers: Scorers | None = Field(None, description="Left out: answers equal to the target")
    tools: list[NewTool] | None = Field(None, description="Left out: one terminal answer tool")
    offers_submit: bool = True
    supports_score_group: bool = False


class EnvironmentChange(Body):
    """Only what is given changes."""

    name: str | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=10_000)
    scorers: Scorers | None = None
    offers_submit: bool | None = None
    supports_score_group: bool | None = None
    is_default: Literal[True] | None = None


class Candidate(Body):
    """One of several answers to the conversation; harnesses never receive them."""

    messages: list[Message] = Field(description="What follows the conversation")
    verdict: Literal["chosen", "rejected", ""] = ""
    model: str = Field("", description="Who wrote it")
    detail: dict[str, Any] = Field({}, description="Scores, annotations and the like")


class Content(Body):
    """What a revision is a snapshot of."""

    messages: list[Message] = []
    attributes: dict[str, Any] = Field({}, description="Columns that templates see as sample")
    tools: list[Any] | None = Field(None, description="Instead of the environment's; null: those")
    tags: list[str] = []
    notes: str = ""
    candidates: list[Candidate] = Field(
        [], description="Answers beside each other. Left out in a save: those there are stay"
    )


def _content(value: object) -> TaskContent:
    if not isinstance(value, dict):
        raise PydanticCustomError("not_an_object", "must be an object")
    return parse_content(value)


SentContent = Annotated[TaskContent, PlainValidator(_content, json_schema_input_type=Content)]
"""Content in a request: checked by the rules of conversations, which name the exact place."""

StoredContent = Annotated[
    dict[str, Any], PlainValidator(lambda value: value, json_schema_input_type=Content)
]
"""Content in an answer: as it was stored, key order kept."""

Grader = Annotated[
    Scorers | None, Field(description="This task's own scorers; null: the environment's")
]
Scripted = Annotated[
    dict[str, Any] | None, Field(description="Authored tool results, by tool; null: none")
]


class TasksQuery(Query):
    split: str | None = Field(None, max_length=64)
    status: StatusName | None = Field(None, description="Left out: all but the archived")
    search: str = Field("", max_length=200, description="Words that the task's texts hold")
    key: str | None = Field(None, max_length=200, description="Exactly this task")
    limit: int = Field(50, ge=1, le=500)
    after: str | None = Field(None, max_length=100, description="``next`` of the page before")


class Task(Answer):
    id: int
    key: str
    split: str
    position: int
    status: StatusName
    summary: str = Field(description="The first words of the conversation")
    turns: int
    tags: list[str]
    created_at: datetime
    updated_at: datetime
    updated_by: str


class TaskPage(Answer):
    items: list[Task]
    next: str | None = NEXT


class Unready(Answer):
    place: str
    message: str


class TaskDetail(Task):
    revision: int = Field(description="The current revision: the base of the next save")
    content: StoredContent
    grader: Scorers | None
    scripted: dict[str, Any] | None
    unready: list[Unready] = Field(description="What keeps it from being served")


class NewTask(Body):
    split: str = Field(max_length=64)
    key: str | None = Field(None, max_length=200, description="Left out: made from its position")
    content: SentContent
    status: StatusName = "draft"
    message: str = Field("", max_length=500, description="Why, for the history")
    grader: Grader = None
    scripted: Scripted = None


class TaskChange(Body):
    """Only what is given changes; all of it or nothing."""

    key: str | None = Field(None, max_length=200)
    split: str | None = Field(None, max_length=64)
    status: StatusName | None = None


class Revision(Answer):
    """One save of a task; never changed afterwards."""

    number: int
    author: str
    message: str
    content_hash: str
    created_at: datetime


class RevisionPage(Answer):
    items: list[Revision]
    next: str | None = NEXT


class RevisionDetail(Revision):
    content: StoredContent
    grader: Scorers | None
    scripted: dict[str, Any] | None


class NewRevision(Body):
    base: int = Field(ge=1, lt=2**31, description="The revision the editing started from")
    content: SentContent
    message: str = Field("", max_length=500, description="Why, for the history")
    status: StatusName | None = Field(None, description="Left out: as it is")
    grader: Grader = None
    scripted: Scripted = None


class Restore(Body):
    base: int = Field(ge=1, lt=2**31, description="The current revision, as you know it")
