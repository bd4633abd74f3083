import { describe, expect, it } from "vitest";
import { emptyDocument, sameContent, sameDocument } from "./document.ts";
import { compactJson } from "./json.ts";
import { patchBlock, type TextBlock, type ToolCallBlock } from "./model.ts";
import { fingerprint, readContent, writeContent } from "./wire.ts";

const CONTENT =
  '{"messages":[' +
  '{"role":"user","blocks":[{"type":"text","text":"Tab\\tand \\u2028 \\ud83d\\ude00","detail":{"b":1.0,"a":1e2}}],"detail":{"x":[1,2]}},' +
  '{"role":"assistant","blocks":[{"type":"reasoning","text":"hm","signature":""},' +
  '{"type":"tool_call","id":"c1","name":"f","input":{"z":1.0,"a":12345678901234567890,"e":1e2,"n":{"y":null}}}]},' +
  '{"role":"user","blocks":[{"type":"tool_result","tool_call_id":"c1","blocks":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"is_error":true}]}' +
  '],"attributes":{"question":"q","target":1.0},"tags":["a"],"tools":null,"notes":"keep me"}';

const value = (text: string): unknown => JSON.parse(text.replace(/(\d+\.0|1e2|\d{15,})/g, '"$1"'));

describe("Content", () => {
  it("is written back with every number, key and signature as it came", () => {
    expect(value(writeContent(readContent(CONTENT)))).toEqual(value(CONTENT));
    const written = writeContent(readContent(CONTENT));
    const compact = compactJson(written);
    expect(compact).toContain('"input":{"z":1.0,"a":12345678901234567890,"e":1e2,"n":{"y":null}}');
    expect(compact).toContain('"detail":{"b":1.0,"a":1e2}');
    expect(compact).toContain('"signature":""');
    expect(compact).toContain('"attributes":{"question":"q","target":1.0}');
  });

  it("changes in one place only when one block is edited", () => {
    const content = readContent(CONTENT);
    const block = content.turns[0]?.blocks[0] as TextBlock;
    const turns = patchBlock<TextBlock>(content.turns, block.uid, { text: "new" });
    const [before, after] = [writeContent(content), writeContent({ ...content, turns })];
    expect(after).toBe(before.replace(JSON.stringify(block.text), '"new"'));
  });

  it("takes null for an absent detail or signature", () => {
    const content = readContent(
      '{"messages":[{"role":"assistant","detail":null,"blocks":[{"text":"x","signature":null,"detail":null,"type":"reasoning"}]}]}',
    );
    expect(writeContent(content)).toBe(
      '{"messages":[{"role":"assistant","blocks":[{"type":"reasoning","text":"x"}]}],"attributes":{},"tags":[]}',
    );
  });

  it("refuses to show what it does not know", () => {
    expect(() => readContent('{"messages":[{"role":"tool","blocks":[]}]}')).toThrow(/role "tool"/);
    expect(() => readContent('{"messages":[{"role":"user","blocks":[{"type":"audio"}]}]}')).toThrow(
      /block type "audio"/,
    );
  });
});

describe("Documents", () => {
  const document = (text: string) => ({ ...emptyDocument("test"), ...readContent(text) });

  it("are the same when only white space inside JSON differs", () => {
    const one = document(CONTENT);
    const call = one.turns[1]?.blocks[1] as ToolCallBlock;
    const spaced = call.input.replaceAll(",", ", ");
    const turns = patchBlock<ToolCallBlock>(one.turns, call.uid, { input: spaced });
    expect(sameDocument(one, { ...one, turns })).toBe(true);
    expect(sameDocument(one, document(CONTENT))).toBe(true);
  });

  it("differ by a kind of number, a tag, the key or the status", () => {
    const one = document(CONTENT);
    expect(sameContent(one, document(CONTENT.replace('"z":1.0', '"z":1')))).toBe(false);
    expect(sameDocument(one, { ...one, tags: ["b"] })).toBe(false);
    expect(sameDocument(one, { ...one, key: "other" })).toBe(false);
    expect(sameDocument(one, { ...one, status: "ready" })).toBe(false);
    expect(sameDocument(one, document(CONTENT.replace("keep me", "other")))).toBe(false);
  });

  it("give equal turns equal fingerprints, however they were read", () => {
    const [one, other] = [readContent(CONTENT).turns, readContent(CONTENT).turns];
    expect(one.map(fingerprint)).toEqual(other.map(fingerprint));
  });
});
