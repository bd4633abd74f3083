import { describe, expect, it } from "vitest";
import { pieces } from "./diff.ts";

const told = (before: string, now: string): string =>
  pieces(before, now)
    .map(({ change, text }) =>
      change === "added" ? `{+${text}+}` : change === "removed" ? `[-${text}-]` : text,
    )
    .join("");

describe("Words that differ", () => {
  it.each([
    ["Be kind.", "Be kind. Be fast.", "Be kind.{+ Be fast.+}"],
    ["Be kind.", "Be kind!", "Be kind[-.-]{+!+}"],
    ["one two", "three four", "[-one two-]{+three four+}"],
    ["It isn't here.", "It wasn't here.", "It [-isn't-]{+wasn't+} here."],
    ['{"a": 1, "b": 2}', '{"a": 3, "b": 2}', '{"a": [-1-]{+3+}, "b": 2}'],
    ["a d", "b c d", "[-a-]{+b c+} d"],
    ["", "new", "{+new+}"],
    ["हिन्दी में", "हिन्दी से", "हिन्दी [-में-]{+से+}"],
  ])("%j to %j", (before, now, shown) => {
    expect(told(before, now)).toBe(shown);
  });

  it("spell both texts", () => {
    const [before, now] = ["a  b,\n c 👩‍👩‍👧 d", "a b;\n\n c 👩‍👩‍👦 e_f's"];
    const all = pieces(before, now);
    const spelt = (without: string): string =>
      all.flatMap((each) => (each.change === without ? [] : each.text)).join("");
    expect(spelt("added")).toBe(before);
    expect(spelt("removed")).toBe(now);
  });
});
