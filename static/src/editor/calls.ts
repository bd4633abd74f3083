/** Tool calls and the results that answer them: they are written, renamed and added together. */

import {
  type Conversation,
  findBlock,
  insertBlock,
  insertTurn,
  newBlock,
  newTurn,
  patchBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Uid,
} from "./model.ts";

export interface Call {
  readonly block: ToolCallBlock;
  readonly turnIndex: number;
}

/** The calls that a result in the turn at `turnIndex` may answer: those of the turn that asked. */
export function callsBefore(turns: Conversation, turnIndex: number): readonly Call[] {
  for (let index = turnIndex - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (!turn || turn.role === "user") continue;
    return turn.blocks.flatMap((block) =>
      block.type === "tool_call" ? [{ block, turnIndex: index }] : [],
    );
  }
  return [];
}

/** The results that answer the calls of the turn at `turnIndex`, in order. */
export function resultsAfter(turns: Conversation, turnIndex: number): readonly ToolResultBlock[] {
  const results: ToolResultBlock[] = [];
  for (const turn of turns.slice(turnIndex + 1)) {
    if (turn.role !== "user") break;
    for (const block of turn.blocks) if (block.type === "tool_result") results.push(block);
  }
  return results;
}

/** The id of the first call that a result in the turn at `turnIndex` could still answer, or "". */
export function openCallBefore(turns: Conversation, turnIndex: number): string {
  const calls = callsBefore(turns, turnIndex);
  const first = calls[0];
  if (!first) return "";
  const answered = new Set(resultsAfter(turns, first.turnIndex).map((each) => each.tool_call_id));
  return (calls.find((call) => !answered.has(call.block.id)) ?? first).block.id;
}

/** Give a call another id; the results that answer it follow. */
export function renameCall(turns: Conversation, uid: Uid, id: string): Conversation {
  const found = findBlock(turns, uid);
  if (found?.block.type !== "tool_call" || found.block.id === id) return turns;
  const before = found.block.id;
  const shared = found.turn.blocks.some(
    (block) => block.type === "tool_call" && block.uid !== uid && block.id === before,
  );
  let renamed = patchBlock<ToolCallBlock>(turns, uid, { id });
  if (shared || before === "") return renamed;
  for (const result of resultsAfter(turns, found.turnIndex)) {
    if (result.tool_call_id === before) {
      renamed = patchBlock<ToolResultBlock>(renamed, result.uid, { tool_call_id: id });
    }
  }
  return renamed;
}

/** Add an empty result for a call: into the user turn that follows, or into a new one. */
export function answerCall(
  turns: Conversation,
  uid: Uid,
): { turns: Conversation; result: Uid } | null {
  const found = findBlock(turns, uid);
  if (found?.block.type !== "tool_call") return null;
  const result = newBlock("tool_result", found.block.id) as ToolResultBlock;
  const next = turns[found.turnIndex + 1];
  if (next?.role !== "user") {
    const turn = newTurn("user", [result]);
    return { turns: insertTurn(turns, found.turnIndex + 1, turn), result: result.uid };
  }
  const at = next.blocks.filter((block) => block.type === "tool_result").length;
  return { turns: insertBlock(turns, { holder: next.uid, at }, result), result: result.uid };
}
