import { describe, expect, it } from "vitest";
import { emptyDocument, sameDocument, type TaskDocument } from "./document.ts";
import { clashesOf, isClean, merge, NO_CHOICES, resolve } from "./merge.ts";
import { newBlock, newTurn, type Role, type TextBlock, type Turn } from "./model.ts";

/** `u:hello` as a turn; every call reads it anew, as the server's answer does. */
function turn(line: string): Turn {
  const role: Role = { u: "user", a: "assistant", s: "system" }[line[0] ?? ""] as Role;
  return newTurn(role, [{ ...(newBlock("text") as TextBlock), text: line.slice(2) }]);
}
function doc(...lines: string[]): TaskDocument {
  return { ...emptyDocument("test"), key: "k", turns: lines.map(turn) };
}
function lines(document: TaskDocument | null): string[] | null {
  return (
    document?.turns.map((each) => `${each.role[0]}:${(each.blocks[0] as TextBlock).text}`) ?? null
  );
}

const BASE = [
  "s:you are a calm assistant",
  "u:where is my order number 12",
  "a:it left on Monday",
  "u:thank you very much",
];

describe("A merge by turn", () => {
  it("takes each side's change to a turn of its own", () => {
    const mine = doc(BASE[0] ?? "", "u:where is my order number 13", BASE[2] ?? "", BASE[3] ?? "");
    const theirs = doc(...BASE.slice(0, 3), "u:thank you, that is very kind");
    const merged = merge(doc(...BASE), mine, theirs);
    expect(isClean(merged)).toBe(true);
    expect(lines(resolve(merged))).toEqual([
      BASE[0],
      "u:where is my order number 13",
      BASE[2],
      "u:thank you, that is very kind",
    ]);
    expect(merged.taken).toBe(1);
  });

  it("takes added and removed turns of both sides", () => {
    const mine = doc(...BASE.slice(1));
    const theirs = doc(...BASE, "a:you are welcome");
    const merged = merge(doc(...BASE), mine, theirs);
    expect(lines(resolve(merged))).toEqual([...BASE.slice(1), "a:you are welcome"]);
  });

  it("says nothing about a change that both made", () => {
    const both = doc(...BASE.slice(0, 3), "u:thanks");
    const merged = merge(doc(...BASE), both, doc(...BASE.slice(0, 3), "u:thanks"));
    expect(isClean(merged)).toBe(true);
    expect(lines(resolve(merged))).toEqual(lines(both));
  });

  it("lets a person choose where both changed one turn", () => {
    const mine = doc(...BASE.slice(0, 3), "u:thank you very much, Ann");
    const theirs = doc(...BASE.slice(0, 3), "u:thank you so very much");
    const merged = merge(doc(...BASE), mine, theirs);
    const [clash] = clashesOf(merged);
    expect(resolve(merged)).toBeNull();
    const last = (choice: "mine" | "theirs" | "base" | "both"): string[] | undefined =>
      lines(resolve(merged, { ...NO_CHOICES, turns: new Map([[clash?.id ?? -1, choice]]) }))?.slice(
        3,
      );
    expect(last("mine")).toEqual(["u:thank you very much, Ann"]);
    expect(last("theirs")).toEqual(["u:thank you so very much"]);
    expect(last("base")).toEqual(["u:thank you very much"]);
    expect(last("both")).toEqual(["u:thank you very much, Ann", "u:thank you so very much"]);
  });

  it("lets a person choose where one side removed what the other changed", () => {
    const merged = merge(
      doc(...BASE),
      doc(...BASE.slice(0, 3)),
      doc(...BASE.slice(0, 3), "u:thank you so very much"),
    );
    const [clash] = clashesOf(merged);
    expect(clash?.mine).toEqual([]);
    const choices = { ...NO_CHOICES, turns: new Map([[clash?.id ?? -1, "theirs" as const]]) };
    expect(lines(resolve(merged, choices))?.at(-1)).toBe("u:thank you so very much");
  });

  it("lets a person choose between turns added at one place", () => {
    const merged = merge(doc(...BASE), doc(...BASE, "a:bye"), doc(...BASE, "a:see you"));
    const [clash] = clashesOf(merged);
    const choices = { ...NO_CHOICES, turns: new Map([[clash?.id ?? -1, "both" as const]]) };
    expect(lines(resolve(merged, choices))).toEqual([...BASE, "a:bye", "a:see you"]);
  });

  it("takes a turn rewritten from the first word for an edit of that turn", () => {
    const mine = doc(...BASE.slice(0, 2), "a:nobody knows", BASE[3] ?? "");
    const theirs = doc(...BASE.slice(0, 2), "a:look at the tracking page", BASE[3] ?? "");
    const merged = merge(doc(...BASE), mine, theirs);
    expect(clashesOf(merged)).toHaveLength(1);
    expect(clashesOf(merged)[0]?.base).toHaveLength(1);
  });

  it("keeps a moved turn that the other side left alone", () => {
    const [a = "", b = "", c = "", d = ""] = BASE;
    const merged = merge(
      doc(a, b, c, d),
      doc(b, a, c, d),
      doc(a, b, c, "u:thank you very, very much"),
    );
    expect(lines(resolve(merged))).toEqual([b, a, c, "u:thank you very, very much"]);
  });

  it("is the other side's version when only they changed, and mine when only I did", () => {
    const changed = doc("u:new", ...BASE.slice(2));
    const same = merge(doc(...BASE), doc(...BASE), changed);
    expect(lines(resolve(same))).toEqual(lines(changed));
    expect(lines(resolve(merge(doc(...BASE), changed, doc(...BASE))))).toEqual(lines(changed));
  });

  it("never leaves two turns with one uid", () => {
    const base = doc(...BASE);
    const [first, ...rest] = base.turns;
    const mine = { ...base, turns: first ? [...rest, first] : rest };
    const theirs = doc("s:you are a very calm assistant", ...BASE.slice(1));
    const merged = merge(base, mine, theirs);
    const turns = new Map(clashesOf(merged).map((clash) => [clash.id, "base" as const]));
    const resolved = resolve(merged, { ...NO_CHOICES, turns });
    const uids = resolved?.turns.map((each) => each.uid) ?? [];
    expect(new Set(uids).size).toBe(uids.length);
    expect(uids.length).toBe(5);
  });

  it("merges four hundred turns quickly", () => {
    const many = Array.from({ length: 400 }, (_, index) => `u:turn number ${index} speaks`);
    const mine = doc(...many.map((line, index) => (index % 7 === 0 ? `${line} mine` : line)));
    const theirs = doc(...many.map((line, index) => (index % 11 === 1 ? `${line} theirs` : line)));
    const started = performance.now();
    const merged = merge(doc(...many), mine, theirs);
    expect(performance.now() - started).toBeLessThan(1500);
    expect(clashesOf(merged).length).toBe(
      many.filter((_, index) => index % 7 === 0 && index % 11 === 1).length,
    );
  });
});

describe("The facts around the turns", () => {
  it("merge one by one", () => {
    const base = { ...doc(...BASE), attributes: '{"a":1}' };
    const mine = { ...base, key: "mine" };
    const theirs = { ...base, tags: ["t"], status: "ready" as const };
    const merged = resolve(merge(base, mine, theirs));
    expect(merged).toMatchObject({ key: "mine", tags: ["t"], status: "ready" });
    expect(merged && sameDocument(merged, { ...mine, tags: ["t"], status: "ready" })).toBe(true);
  });

  it("ask when both sides changed one", () => {
    const base = { ...doc(...BASE), attributes: '{"a":1}' };
    const merged = merge(
      base,
      { ...base, attributes: '{"a":2}' },
      { ...base, attributes: '{"a": 3}' },
    );
    expect(merged.fieldClashes.map((clash) => clash.field)).toEqual(["attributes"]);
    expect(resolve(merged)).toBeNull();
    const fields = new Map([["attributes" as const, "theirs" as const]]);
    expect(resolve(merged, { ...NO_CHOICES, fields })?.attributes).toBe('{"a": 3}');
  });
});
