import { expect, it } from "vitest";
import { targetOf } from "./place.ts";
import { readContent } from "./wire.ts";

const { turns } = readContent(
  '{"messages":[{"role":"user","blocks":[{"type":"text","text":"a"},' +
    '{"type":"tool_result","tool_call_id":"c","is_error":false,"blocks":[{"type":"text","text":"b"}]}]}]}',
);
const turn = turns[0];
const [text, result] = turn?.blocks ?? [];
const inner = result?.type === "tool_result" ? result.blocks[0] : undefined;

it.each([
  ["messages[0].role", { turn: turn?.uid, block: null, field: "role" }],
  ["messages[0].blocks[0].text", { turn: turn?.uid, block: text?.uid, field: "text" }],
  ["messages[0].blocks[1]", { turn: turn?.uid, block: result?.uid, field: null }],
  ["messages[0].blocks[1].blocks[0].text", { turn: turn?.uid, block: inner?.uid, field: "text" }],
  ["messages[0].blocks[1].input.a[3].b", { turn: turn?.uid, block: result?.uid, field: "input" }],
  ["messages[0].blocks", { turn: turn?.uid, block: null, field: "blocks" }],
  ["messages[9].blocks[0]", { turn: null, block: null, field: "messages" }],
  ["messages", { turn: null, block: null, field: "messages" }],
  ["attributes.a[1]", { turn: null, block: null, field: "attributes" }],
  ["tags[3]", { turn: null, block: null, field: "tags" }],
  ["key", { turn: null, block: null, field: "key" }],
  ["", { turn: null, block: null, field: null }],
])("%s leads to its block", (place, target) => {
  expect(targetOf(place, turns)).toEqual(target);
});
