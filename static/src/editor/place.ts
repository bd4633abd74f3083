/** From the server's places (`messages[2].blocks[0].text`) to turns, blocks and fields. */

import type { Conversation, Uid } from "./model.ts";

export interface Target {
  readonly turn: Uid | null;
  readonly block: Uid | null;
  /** A field of the block, of the turn, or of the task where `turn` is null. */
  readonly field: string | null;
}

const STEP = /\.?([A-Za-z_]\w*)|\[(\d+)\]/y;

export function targetOf(place: string, turns: Conversation): Target {
  const steps = stepsOf(place);
  if (steps[0] !== "messages") {
    return { turn: null, block: null, field: typeof steps[0] === "string" ? steps[0] : null };
  }
  const turn = typeof steps[1] === "number" ? turns[steps[1]] : undefined;
  if (!turn) return { turn: null, block: null, field: "messages" };
  let at = 2;
  let held = turn.blocks;
  let block: Uid | null = null;
  while (steps[at] === "blocks" && typeof steps[at + 1] === "number") {
    const found = held[steps[at + 1] as number];
    if (!found) break;
    block = found.uid;
    held = found.type === "tool_result" ? found.blocks : [];
    at += 2;
  }
  const field = steps[at];
  return { turn: turn.uid, block, field: typeof field === "string" ? field : null };
}

function stepsOf(place: string): (string | number)[] {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  for (;;) {
    const match = STEP.exec(place);
    if (!match) return steps;
    steps.push(match[1] ?? Number(match[2]));
  }
}
