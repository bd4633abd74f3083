import { describe, expect, it } from "vitest";
import { answerCall, callsBefore, openCallBefore, renameCall } from "./calls.ts";
import {
  type Block,
  type Conversation,
  changeTurn,
  duplicateBlock,
  duplicateTurn,
  findBlock,
  freshCallId,
  indexOfTurn,
  insertBlock,
  insertTurn,
  moveBlock,
  moveTurn,
  newBlock,
  newTurn,
  PLACEMENT,
  patchBlock,
  ROLES,
  removeBlock,
  removeTurn,
  setRole,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
} from "./model.ts";
import { retypeBlock } from "./retyping.ts";
import { begin, pause, record, redo, type Timeline, undo } from "./timeline.ts";
import { writeTurn } from "./wire.ts";

function text(words: string): TextBlock {
  return { ...(newBlock("text") as TextBlock), text: words };
}
function call(id: string, name = "look"): ToolCallBlock {
  return { ...(newBlock("tool_call", id) as ToolCallBlock), name };
}
function result(id: string, ...blocks: Block[]): ToolResultBlock {
  return { ...(newBlock("tool_result", id) as ToolResultBlock), blocks };
}

function sample(): Conversation {
  return [
    newTurn("system", [text("be kind")]),
    newTurn("user", [text("hello"), newBlock("image")]),
    newTurn("assistant", [newBlock("reasoning"), text("well"), call("c1"), call("c2")]),
    newTurn("user", [result("c1", text("one")), result("c2", text("two"))]),
    newTurn("assistant", [text("done")]),
  ];
}
const said = (turns: Conversation): string[] => turns.map(writeTurn);
const at = <T>(list: readonly T[], index: number): T => list.at(index) as T;

describe("Turns", () => {
  it("are inserted and removed again without a trace", () => {
    const turns = sample();
    const turn = newTurn("user", [text("new")]);
    for (let index = 0; index <= turns.length; index += 1) {
      const more = insertTurn(turns, index, turn);
      expect(more[index]).toBe(turn);
      expect(removeTurn(more, turn.uid)).toEqual(turns);
    }
  });

  it("move to any place and back", () => {
    const turns = sample();
    for (const [from, turn] of turns.entries()) {
      for (const to of turns.keys()) {
        const moved = moveTurn(turns, turn.uid, to);
        expect(indexOfTurn(moved, turn.uid)).toBe(to);
        expect(moveTurn(moved, turn.uid, from)).toEqual(turns);
      }
    }
    expect(moveTurn(turns, at(turns, 0).uid, -3)).toBe(turns);
    expect(indexOfTurn(moveTurn(turns, at(turns, 0).uid, 99), at(turns, 0).uid)).toBe(4);
  });

  it("are duplicated word for word, with names of their own", () => {
    const turns = sample();
    const twice = duplicateTurn(turns, at(turns, 3).uid);
    expect(said(twice)[4]).toBe(said(twice)[3]);
    const uids = new Set<number>();
    const count = (block: Block): number => {
      uids.add(block.uid);
      return 1 + (block.type === "tool_result" ? block.blocks.map(count).length : 0);
    };
    const blocks = twice.flatMap((turn) => turn.blocks);
    blocks.forEach(count);
    expect(uids.size).toBe(blocks.length + 4);
  });

  it("change their role and keep their blocks", () => {
    const turns = sample();
    const changed = setRole(turns, at(turns, 2).uid, "user");
    expect(at(changed, 2).role).toBe("user");
    expect(at(changed, 2).blocks).toBe(at(turns, 2).blocks);
    expect(setRole(changed, at(turns, 2).uid, "assistant")).toEqual(turns);
    expect(setRole(turns, at(turns, 2).uid, "assistant")).toBe(turns);
  });

  it("share everything an operation did not touch", () => {
    const turns = sample();
    const block = at(at(turns, 2).blocks, 1);
    const changed = patchBlock<TextBlock>(turns, block.uid, { text: "changed" });
    for (const index of [0, 1, 3, 4]) expect(changed[index]).toBe(turns[index]);
    expect(at(changed, 2).blocks[0]).toBe(at(turns, 2).blocks[0]);
    expect(patchBlock<TextBlock>(turns, block.uid, { text: "well" })).toBe(turns);
    expect(changeTurn(turns, -1, (turn) => ({ ...turn }))).toBe(turns);
  });
});

describe("Blocks", () => {
  it("are inserted and removed again, also inside a tool result", () => {
    const turns = sample();
    const holder = at(at(turns, 3).blocks, 1).uid;
    for (const spot of [
      { holder: at(turns, 1).uid, at: 1 },
      { holder, at: 0 },
    ]) {
      const block = text("new");
      const more = insertBlock(turns, spot, block);
      expect(findBlock(more, block.uid)?.at).toBe(spot.at);
      expect(removeBlock(more, block.uid)).toEqual(turns);
    }
  });

  it("move inside a turn, to another turn and into a result, and back", () => {
    const turns = sample();
    const block = at(at(turns, 1).blocks, 0);
    const home = { holder: at(turns, 1).uid, at: 0 };
    for (const spot of [
      { holder: at(turns, 1).uid, at: 1 },
      { holder: at(turns, 4).uid, at: 0 },
      { holder: at(at(turns, 3).blocks, 0).uid, at: 1 },
    ]) {
      const moved = moveBlock(turns, block.uid, spot);
      const found = findBlock(moved, block.uid);
      expect(found?.at).toBe(spot.at);
      expect(found?.result?.uid ?? found?.turn.uid).toBe(spot.holder);
      expect(moveBlock(moved, block.uid, home)).toEqual(turns);
    }
  });

  it("get an id of their own when a call is duplicated in its turn", () => {
    const turns = sample();
    const twice = duplicateBlock(turns, at(at(turns, 2).blocks, 2).uid);
    const ids = at(twice, 2).blocks.flatMap((block) =>
      block.type === "tool_call" ? block.id : [],
    );
    expect(ids).toEqual(["c1", "call_1", "c2"]);
  });

  it("become another type and keep what they say", () => {
    const turns = [newTurn("assistant", [text('look_up {"id": 1.0}'), text("plain")])];
    const [first, second] = at(turns, 0).blocks as [Block, Block];
    const called = at(at(retypeBlock(turns, first.uid, "tool_call"), 0).blocks, 0);
    expect(called).toMatchObject({ type: "tool_call", id: "call_1", name: "look_up" });
    expect((called as ToolCallBlock).input).toBe('{"id": 1.0}');
    const wrapped = at(at(retypeBlock(turns, second.uid, "tool_call"), 0).blocks, 1);
    expect((wrapped as ToolCallBlock).input).toBe('{"text": "plain"}');
    const thought = retypeBlock(turns, second.uid, "reasoning");
    expect(at(at(thought, 0).blocks, 1)).toMatchObject({ type: "reasoning", text: "plain" });
    expect(said(retypeBlock(thought, second.uid, "text"))).toEqual(said(turns));
    expect(retypeBlock(turns, second.uid, "image")).toBe(turns);
  });

  it("become the result of the call that waits, and come out of it again", () => {
    const turns = [
      newTurn("assistant", [call("c1"), call("c2")]),
      newTurn("user", [result("c1"), text("raining")]),
    ];
    const block = at(at(turns, 1).blocks, 1);
    const made = retypeBlock(turns, block.uid, "tool_result");
    const holder = at(at(made, 1).blocks, 1);
    expect(holder).toMatchObject({ type: "tool_result", tool_call_id: "c2" });
    expect(retypeBlock(made, holder.uid, "text")).toEqual(turns);
  });

  it("stand in every role that the placement rule names", () => {
    for (const role of ROLES) {
      const made = PLACEMENT[role].map((type) => newBlock(type, "c1"));
      expect(newTurn(role, made).blocks.map((block) => block.type)).toEqual(PLACEMENT[role]);
    }
  });
});

describe("Calls and results", () => {
  it("know the calls that a result may answer", () => {
    const turns = sample();
    expect(callsBefore(turns, 3).map((each) => each.block.id)).toEqual(["c1", "c2"]);
    expect(callsBefore(turns, 1)).toEqual([]);
    expect(openCallBefore(turns, 3)).toBe("c1");
    expect(openCallBefore(removeBlock(turns, at(at(turns, 3).blocks, 0).uid), 3)).toBe("c1");
    expect(openCallBefore(removeBlock(turns, at(at(turns, 3).blocks, 1).uid), 3)).toBe("c2");
    expect(freshCallId(turns)).toBe("call_1");
  });

  it("stay together when a call gets another id", () => {
    const turns = sample();
    const renamed = renameCall(turns, at(at(turns, 2).blocks, 2).uid, "x");
    expect(at(at(renamed, 3).blocks, 0)).toMatchObject({ tool_call_id: "x" });
    expect(at(at(renamed, 3).blocks, 1)).toMatchObject({ tool_call_id: "c2" });
    expect(renameCall(renamed, at(at(turns, 2).blocks, 2).uid, "c1")).toEqual(turns);
  });

  it("do not follow when two calls share the id", () => {
    const turns = [
      newTurn("assistant", [call("c1"), call("c1")]),
      newTurn("user", [result("c1", text("one"))]),
    ];
    const renamed = renameCall(turns, at(at(turns, 0).blocks, 1).uid, "c2");
    expect(at(at(renamed, 1).blocks, 0)).toMatchObject({ tool_call_id: "c1" });
  });

  it("are answered in the next user turn, or in a new one", () => {
    const turns = [newTurn("assistant", [call("c1"), call("c2")])];
    const first = answerCall(turns, at(at(turns, 0).blocks, 0).uid);
    expect(first?.turns.map((turn) => turn.role)).toEqual(["assistant", "user"]);
    const second = answerCall(first?.turns ?? [], at(at(turns, 0).blocks, 1).uid);
    const ids = at(second?.turns ?? [], 1).blocks.map((block) =>
      Reflect.get(block, "tool_call_id"),
    );
    expect(ids).toEqual(["c1", "c2"]);
  });
});

describe("Any series of operations", () => {
  /** A small repeatable generator (mulberry32). */
  function dice(seed: number): (sides: number) => number {
    let state = seed;
    return (sides) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
    };
  }

  function anyOperation(turns: Conversation, roll: (sides: number) => number): Conversation {
    const turn: Turn | undefined = turns[roll(Math.max(1, turns.length))];
    const block = turn?.blocks[roll(Math.max(1, turn.blocks.length))];
    const role = at(ROLES, roll(3));
    if (!turn) return insertTurn(turns, 0, newTurn(role));
    switch (roll(block ? 10 : 5)) {
      case 0:
        return insertTurn(turns, roll(turns.length + 1), newTurn(role));
      case 1:
        return removeTurn(turns, turn.uid);
      case 2:
        return moveTurn(turns, turn.uid, roll(turns.length));
      case 3:
        return setRole(turns, turn.uid, role);
      case 4: {
        const type = at(PLACEMENT[turn.role], roll(PLACEMENT[turn.role].length));
        return insertBlock(turns, { holder: turn.uid, at: 0 }, newBlock(type, freshCallId(turns)));
      }
      case 5:
        return block ? removeBlock(turns, block.uid) : turns;
      case 6:
        return block ? duplicateBlock(turns, block.uid) : turns;
      case 7:
        return block ? moveBlock(turns, block.uid, { holder: at(turns, 0).uid, at: 0 }) : turns;
      case 8:
        return block ? retypeBlock(turns, block.uid, "text") : turns;
      default:
        return block?.type === "text"
          ? patchBlock<TextBlock>(turns, block.uid, { text: `typed ${roll(100)}` })
          : duplicateTurn(turns, turn.uid);
    }
  }

  it("is undone to the beginning and redone to the end", () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const roll = dice(seed);
      const start = sample();
      const values: Conversation[] = [start];
      let line: Timeline<Conversation> = begin<Conversation>(start);
      for (let step = 0; step < 60; step += 1) {
        const value = anyOperation(line.present, roll);
        if (value !== line.present) values.push(value);
        line = record(line, { value, label: "change" });
      }
      for (const value of values.toReversed()) {
        expect(line.present).toBe(value);
        line = undo(line);
      }
      expect(undo(line)).toBe(line);
      for (const value of values) {
        expect(line.present).toBe(value);
        line = redo(line);
      }
      expect(redo(line)).toBe(line);
    }
  });

  it("never changes a value that was there before", () => {
    const roll = dice(7);
    let turns = sample();
    for (let step = 0; step < 400; step += 1) {
      const before = JSON.stringify(turns);
      const next = anyOperation(turns, roll);
      expect(JSON.stringify(turns)).toBe(before);
      turns = next.length > 12 ? sample() : next;
    }
  });

  it("never gives two turns or blocks the same uid", () => {
    const roll = dice(11);
    let turns = sample();
    const uids = (block: Block): number[] =>
      block.type === "tool_result" ? [block.uid, ...block.blocks.flatMap(uids)] : [block.uid];
    for (let step = 0; step < 300; step += 1) {
      turns = anyOperation(turns, roll);
      const all = turns.flatMap((turn) => [turn.uid, ...turn.blocks.flatMap(uids)]);
      expect(new Set(all).size).toBe(all.length);
      if (turns.length > 12) turns = sample();
    }
  });
});

describe("Undo", () => {
  it("takes back a run of typing in one field at once", () => {
    let line = begin("");
    line = record(line, { value: "a", label: "Type", field: "text 1", now: 100 });
    line = record(line, { value: "ab", label: "Type", field: "text 1", now: 300 });
    line = record(line, { value: "abc", label: "Type", field: "text 1", now: 5000 });
    expect(undo(line).present).toBe("ab");
    expect(undo(undo(line)).present).toBe("");
  });

  it("keeps typing in two fields, or around a pause, apart", () => {
    let line = begin("");
    line = record(line, { value: "a", label: "Type", field: "text 1", now: 100 });
    line = record(line, { value: "b", label: "Type", field: "text 2", now: 200 });
    line = record(pause(line), { value: "c", label: "Type", field: "text 2", now: 300 });
    expect(undo(line).present).toBe("b");
    expect(undo(undo(line)).present).toBe("a");
  });

  it("forgets what was undone when something else is done", () => {
    let line = begin(0);
    line = undo(record(line, { value: 1, label: "One" }));
    line = record(line, { value: 2, label: "Two" });
    expect(redo(line)).toBe(line);
    expect(undo(line).present).toBe(0);
  });

  it("says what it takes back, and where", () => {
    const line = record(begin(0), { value: 1, label: "Move turn", at: 7 });
    expect(line.past?.step).toMatchObject({ label: "Move turn", at: 7 });
    expect(undo(line).future?.step).toMatchObject({ label: "Move turn", at: 7 });
  });
});
