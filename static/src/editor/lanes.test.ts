import { expect, it } from "vitest";
import { lanesOf } from "./lanes.ts";
import { readContent } from "./wire.ts";

const call = (id: string) => ({ type: "tool_call", id, name: "f", input: {} });
const result = (id: string) => ({
  type: "tool_result",
  tool_call_id: id,
  blocks: [],
  is_error: false,
});
const read = (...messages: unknown[]) => readContent(JSON.stringify({ messages })).turns;
const drawn = (turns: ReturnType<typeof read>): string[] =>
  lanesOf(turns).map((lanes, index) => {
    const row = (parts: readonly { column: number; part: string }[] = []) =>
      parts.map((lane) => `${lane.part[0]}${lane.column}`).join(" ") || "-";
    const blocks = turns[index]?.blocks.map((block) => row(lanes.blocks.get(block.uid))) ?? [];
    return [row(lanes.head), ...blocks, row(lanes.gap)].join(" | ");
  });

it("runs from a call to the end of its turn and on to the result", () => {
  const turns = read(
    { role: "assistant", blocks: [call("a"), { type: "text", text: "" }] },
    { role: "user", blocks: [{ type: "text", text: "" }, result("a"), { type: "text", text: "" }] },
  );
  expect(drawn(turns)).toEqual(["- | s0 | t0 | t0", "t0 | t0 | e0 | - | -"]);
});

it("puts several calls side by side and gives a free column to the next", () => {
  const turns = read(
    { role: "assistant", blocks: [call("a"), call("b")] },
    { role: "user", blocks: [result("b"), result("a")] },
    { role: "assistant", blocks: [call("a")] },
    { role: "user", blocks: [result("a")] },
  );
  expect(drawn(turns)).toEqual([
    "- | s0 | t0 s1 | t0 t1",
    "t0 t1 | t0 e1 | e0 | -",
    "- | s0 | t0",
    "t0 | e0 | -",
  ]);
});

it("draws nothing for an orphan or a call without result", () => {
  const turns = read(
    { role: "assistant", blocks: [call("a")] },
    { role: "user", blocks: [result("b")] },
  );
  expect(drawn(turns)).toEqual(["- | - | -", "- | - | -"]);
});
