/**
 * The brackets in the gutter that tie each call to its result.
 *
 * Every row of the page (a turn's head, each of its blocks, the gap after them) has a gutter; a
 * bracket is drawn by the rows it passes, so nothing has to be measured and nothing moves.
 */

import { callsBefore } from "./calls.ts";
import type { Conversation, Uid } from "./model.ts";

export interface Lane {
  /** 0 is the one next to the text. */
  readonly column: number;
  readonly part: "start" | "through" | "end";
}

export interface TurnLanes {
  readonly head: readonly Lane[];
  readonly blocks: ReadonlyMap<Uid, readonly Lane[]>;
  readonly gap: readonly Lane[];
  /** Changes exactly when something else has to be drawn. */
  readonly key: string;
}

interface Pair {
  readonly call: Uid;
  readonly result: Uid;
}

/** Brackets side by side before they would leave the gutter. */
export const MOST_COLUMNS = 4;

const NONE: TurnLanes = { head: [], blocks: new Map(), gap: [], key: "" };

export function lanesOf(turns: Conversation): readonly TurnLanes[] {
  const pairs = pairsOf(turns);
  if (pairs.length === 0) return turns.map(() => NONE);
  const starts = new Map(pairs.map((pair) => [pair.call, pair]));
  const ends = new Map(pairs.map((pair) => [pair.result, pair]));
  const open = new Map<Pair, number>();
  const free = (): number => {
    const taken = new Set(open.values());
    let column = 0;
    while (taken.has(column)) column += 1;
    return column;
  };
  const through = (): Lane[] =>
    [...open.values()].filter(shown).map((column) => ({ column, part: "through" }));
  return turns.map((turn) => {
    const head = through();
    const blocks = new Map<Uid, readonly Lane[]>();
    for (const block of turn.blocks) {
      const lanes = through();
      const [start, end] = [starts.get(block.uid), ends.get(block.uid)];
      if (start) {
        open.set(start, free());
        lanes.push({ column: open.get(start) ?? 0, part: "start" });
      }
      const column = end && open.get(end);
      if (end && column !== undefined) {
        open.delete(end);
        lanes.splice(0, lanes.length, ...lanes.filter((lane) => lane.column !== column));
        lanes.push({ column, part: "end" });
      }
      if (lanes.length > 0)
        blocks.set(
          block.uid,
          lanes.filter((lane) => shown(lane.column)),
        );
    }
    const gap = through();
    const key = JSON.stringify([head, [...blocks], gap]);
    return { head, blocks, gap, key };
  });
}

function shown(column: number): boolean {
  return column < MOST_COLUMNS;
}

/** Each result with the call it answers; a second answer is tied to nothing. */
function pairsOf(turns: Conversation): readonly Pair[] {
  const pairs: Pair[] = [];
  const answered = new Set<Uid>();
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== "user") continue;
    for (const block of turn.blocks) {
      if (block.type !== "tool_result") continue;
      const call = callsBefore(turns, index).find((each) => each.block.id === block.tool_call_id);
      if (!call || answered.has(call.block.uid)) continue;
      answered.add(call.block.uid);
      pairs.push({ call: call.block.uid, result: block.uid });
    }
  }
  return pairs;
}
