import { describe, expect, it } from "vitest";
import {
  compactJson,
  JsonFault,
  jsonFault,
  member,
  parseJson,
  prettyJson,
  sameJson,
} from "./json.ts";

const ODD =
  '{ "z":1.0, "a" : 1e2,"big":123456789012345678901234567890,"é\\u00e9":[ ],"o":{},"n":-0.10E+5}';

describe("JSON that survives", () => {
  it("keeps numbers, escapes and the order of keys when it is written again", () => {
    expect(compactJson(ODD)).toBe(
      '{"z":1.0,"a":1e2,"big":123456789012345678901234567890,"é\\u00e9":[],"o":{},"n":-0.10E+5}',
    );
  });

  it("is the same after being laid out and closed up again", () => {
    expect(compactJson(prettyJson(ODD))).toBe(compactJson(ODD));
  });

  it("is laid out on one line where it fits, and a line a member where not", () => {
    expect(prettyJson('{"a":[1.0,{"b":2}]}')).toBe('{"a": [1.0, {"b": 2}]}');
    const long = JSON.stringify("x".repeat(50));
    expect(prettyJson(`{"a":${long},"b":[1,2],"c":{}}`)).toBe(
      `{\n  "a": ${long},\n  "b": [1, 2],\n  "c": {}\n}`,
    );
    expect(prettyJson(`[[${long},1]]`)).toBe(`[\n  [\n    ${long},\n    1\n  ]\n]`);
  });

  it("knows where each value stands in the text", () => {
    const node = parseJson(ODD);
    const big = member(node, "big");
    expect(big && ODD.slice(big.start, big.end)).toBe("123456789012345678901234567890");
  });

  it("reads texts with escaped quotes and backslashes", () => {
    const node = parseJson('["a\\"b", "c\\\\", ""]');
    expect(
      node.kind === "array" && node.items.map((each) => each.kind === "string" && each.value),
    ).toEqual(['a"b', "c\\", ""]);
  });

  it("reads a picture of some megabytes at once", () => {
    const data = "A".repeat(6_000_000);
    const started = performance.now();
    parseJson(JSON.stringify({ data }));
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it("takes white space for nothing and everything else for a difference", () => {
    expect(sameJson('{"a": 1}', '{"a":1}')).toBe(true);
    expect(sameJson('{"a": 1}', '{"a":1.0}')).toBe(false);
    expect(sameJson('{"a":', '{"a":')).toBe(true);
    expect(sameJson('{"a":', '{"a":1}')).toBe(false);
  });
});

describe("Faults in JSON", () => {
  const said = (text: string): string => jsonFault(text, "object")?.sentence ?? "";

  it.each([
    ["", "Line 1, column 1: a value is missing."],
    ['{"a": 1,}', "Line 1, column 9: a comma may not stand before the end."],
    ['{"a" 1}', "Line 1, column 6: a colon is missing after the key."],
    ['{"a": 1\n "b": 2}', "Line 2, column 2: a comma or } is missing."],
    ['{"a": 1', "Line 1, column 8: the closing } is missing."],
    ["{a: 1}", 'Line 1, column 2: a key in double quotes like "name" is missing.'],
    ['{"a": 1, "a": 2}', 'Line 1, column 10: the key "a" stands twice.'],
    [
      '{"a": "x\ny"}',
      "Line 1, column 7: the text in quotes holds a line break, a tab or a wrong escape.",
    ],
    ['{"a": "x}', "Line 1, column 7: the closing quote is missing."],
    ['{"a": NaN}', "Line 1, column 7: a value is missing."],
    ['{"a": 01}', "Line 1, column 8: a comma or } is missing."],
    ["{} {}", "Line 1, column 4: nothing may follow the value."],
    ["[1]", "Line 1, column 1: must be an object like {}."],
  ])("%s", (text, sentence) => {
    expect(said(text)).toBe(sentence);
  });

  it("refuses nesting that the server does not store", () => {
    expect(() => parseJson("[".repeat(300))).toThrow(JsonFault);
    expect(jsonFault("[".repeat(200) + "]".repeat(200))).toBeNull();
  });
});
