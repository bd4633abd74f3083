/**
 * What is wrong in a conversation while it is written: placement, JSON, and calls with their results.
 *
 * The server decides (`apps/dialogue`); these are the same rules, said at once and at the block.
 */

import { jsonFault } from "./json.ts";
import {
  type Block,
  type BlockType,
  type Conversation,
  type JsonText,
  PLACEMENT,
  RESULT_HOLDS,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  type Uid,
} from "./model.ts";

export type Severity = "error" | "warning";

export interface Problem {
  readonly turn: Uid;
  /** The block, or null for the turn itself. */
  readonly block: Uid | null;
  readonly field: string | null;
  readonly message: string;
  readonly severity: Severity;
}

export const NAMES: Readonly<Record<BlockType, string>> = {
  text: "text",
  image: "image",
  reasoning: "reasoning",
  tool_call: "tool call",
  tool_result: "tool result",
};

/** All problems, in the order of the conversation. */
export function problemsOf(turns: Conversation): readonly Problem[] {
  const paired = pairingProblems(turns);
  if (paired.length === 0) return turns.flatMap(turnProblems);
  return turns.flatMap((turn) => [
    ...turnProblems(turn),
    ...paired.filter((each) => each.turn === turn.uid),
  ]);
}

const known = new WeakMap<Turn, readonly Problem[]>();

/** Problems that a turn has by itself; a turn never changes, so they are found once. */
export function turnProblems(turn: Turn): readonly Problem[] {
  const found = known.get(turn);
  if (found) return found;
  const empty = problem(turn, null, "blocks", "This turn has nothing in it yet.", "warning");
  const made = [
    ...(turn.blocks.length === 0 ? [empty] : []),
    ...detailProblems(turn, null, turn.detail),
    ...turn.blocks.flatMap((block) => [
      ...misplaced(turn, block, PLACEMENT[turn.role], `a ${turn.role} turn`),
      ...blockProblems(turn, block),
    ]),
  ];
  known.set(turn, made);
  return made;
}

function misplaced(
  turn: Turn,
  block: Block,
  allowed: readonly BlockType[],
  where: string,
): readonly Problem[] {
  if (allowed.includes(block.type)) return [];
  const names = allowed.map((type) => NAMES[type]);
  const choice = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  const kind = NAMES[block.type];
  const article = /^[aeiou]/.test(kind) ? "An" : "A";
  const message = `${article} ${kind} cannot stand in ${where}, which holds ${choice}.`;
  return [problem(turn, block, null, message)];
}

function blockProblems(turn: Turn, block: Block): readonly Problem[] {
  return [...fieldProblems(turn, block), ...detailProblems(turn, block, block.detail)];
}

function detailProblems(
  turn: Turn,
  block: Block | null,
  detail: JsonText | null,
): readonly Problem[] {
  const fault = detail === null ? null : jsonFault(detail, "object");
  return fault ? [problem(turn, block, "detail", fault.sentence)] : [];
}

function fieldProblems(turn: Turn, block: Block): readonly Problem[] {
  switch (block.type) {
    case "text":
    case "reasoning":
      return textProblems(turn, block, block.text);
    case "image":
      if (block.data !== "") return [];
      return [problem(turn, block, "data", "No picture is chosen yet.")];
    case "tool_call":
      return callProblems(turn, block);
    case "tool_result": {
      const unset = problem(
        turn,
        block,
        "tool_call_id",
        "Choose the call that this result answers.",
      );
      const inner = block.blocks.flatMap((held) => [
        ...misplaced(turn, held, RESULT_HOLDS, "a tool result"),
        ...blockProblems(turn, held),
      ]);
      return block.tool_call_id === "" ? [unset, ...inner] : inner;
    }
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function textProblems(turn: Turn, block: Block, text: string): readonly Problem[] {
  if (text.includes("\0")) {
    return [problem(turn, block, "text", "Holds the NUL character, which cannot be stored.")];
  }
  if (LONE_SURROGATE.test(text)) {
    return [problem(turn, block, "text", "Holds half of a character pair, which is not text.")];
  }
  return [];
}

function callProblems(turn: Turn, block: ToolCallBlock): readonly Problem[] {
  const problems: Problem[] = [];
  if (block.id === "") problems.push(problem(turn, block, "id", "The id is empty."));
  if (block.name === "") problems.push(problem(turn, block, "name", "Name the tool."));
  const fault = jsonFault(block.input, "object");
  if (fault) problems.push(problem(turn, block, "input", fault.sentence));
  return problems;
}

/** Rule C3: every result answers a call of the turn that asked, once; no call is left behind. */
export function pairingProblems(turns: Conversation): readonly Problem[] {
  const pairs = new Pairs();
  for (const turn of turns) pairs.read(turn);
  pairs.end(turns.at(-1));
  return pairs.problems;
}

const GOES_ON = "has no result, though the conversation goes on";

/** Walks a conversation with the calls of the last turn that could ask. */
class Pairs {
  readonly problems: Problem[] = [];
  private asker: Turn | undefined;
  private asked = new Set<string>();
  private open = new Map<string, ToolCallBlock>();

  read(turn: Turn): void {
    if (turn.role !== "user") {
      this.leave(GOES_ON, "error");
      this.asker = turn;
      this.asked = new Set();
    }
    for (const block of turn.blocks) {
      if (block.type === "tool_call" && turn.role !== "user") this.call(turn, block);
      if (block.type === "tool_result" && turn.role === "user") this.result(turn, block);
    }
  }

  end(last: Turn | undefined): void {
    if (last === this.asker) this.leave("waits for its result", "warning");
    else this.leave(GOES_ON, "error");
  }

  private call(turn: Turn, block: ToolCallBlock): void {
    if (block.id === "") return;
    if (this.asked.has(block.id)) {
      const message = `The id ${quoted(block.id)} is used by two calls of this turn.`;
      this.problems.push(problem(turn, block, "id", message));
      return;
    }
    this.asked.add(block.id);
    this.open.set(block.id, block);
  }

  private result(turn: Turn, block: ToolResultBlock): void {
    const id = block.tool_call_id;
    if (id === "" || this.open.delete(id)) return;
    const message = this.asked.has(id)
      ? `The call ${quoted(id)} is answered a second time.`
      : `The result ${quoted(id)} answers no call of the turn before it.`;
    this.problems.push(problem(turn, block, "tool_call_id", message));
  }

  private leave(words: string, severity: Severity): void {
    for (const [id, block] of this.open) {
      if (!this.asker) break;
      this.problems.push(
        problem(this.asker, block, "id", `The call ${quoted(id)} ${words}.`, severity),
      );
    }
    this.open = new Map();
  }
}

function problem(
  turn: Turn,
  block: Block | null,
  field: string | null,
  message: string,
  severity: Severity = "error",
): Problem {
  return { turn: turn.uid, block: block?.uid ?? null, field, message, severity };
}

function quoted(id: string): string {
  return `“${id.length > 40 ? `${id.slice(0, 37)}…` : id}”`;
}

export function worst(problems: readonly { severity: Severity }[]): Severity | null {
  if (problems.some((each) => each.severity === "error")) return "error";
  return problems.length > 0 ? "warning" : null;
}
