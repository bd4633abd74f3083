import { beforeEach, expect, it } from "vitest";
import { emptyDocument, sameDocument } from "./document.ts";
import { Drafts } from "./draft.ts";
import { newBlock, newTurn } from "./model.ts";

const document = {
  ...emptyDocument("test"),
  turns: [newTurn("assistant", [{ ...newBlock("tool_call", "c"), input: '{"broken": ' } as never])],
};

const BASE = { number: 4, key: "k", split: "test", status: "draft" } as const;

beforeEach(() => localStorage.clear());

it("comes back as it was, broken JSON included, with names of this window", () => {
  new Drafts("ann", "/t/1").keep(document, BASE);
  const draft = new Drafts("ann", "/t/1").read();
  expect(draft?.base).toEqual(BASE);
  expect(draft && sameDocument(draft.document, document)).toBe(true);
  expect(draft?.document.turns[0]?.uid).not.toBe(document.turns[0]?.uid);
});

it("belongs to one person and one task", () => {
  new Drafts("ann", "/t/1").keep(document, BASE);
  expect(new Drafts("bob", "/t/1").read()).toBeNull();
  expect(new Drafts("ann", "/t/2").read()).toBeNull();
});

it("is not thrown away by another window's save", () => {
  const mine = new Drafts("ann", "/t/1");
  const other = new Drafts("ann", "/t/1");
  mine.keep(document, BASE);
  other.forget();
  expect(mine.read()).not.toBeNull();
  mine.forget();
  expect(mine.read()).toBeNull();
});

it("can be taken over and then forgotten", () => {
  new Drafts("ann", "/t/1").keep(document, BASE);
  const other = new Drafts("ann", "/t/1");
  const draft = other.read();
  other.forget(draft ?? undefined);
  expect(other.read()).toBeNull();
});

it("is still there after another window wrote its own, until somebody decides", () => {
  new Drafts("ann", "/t/1").keep(document, BASE);
  const other = new Drafts("ann", "/t/1");
  const offered = other.read();
  other.keep({ ...document, key: "new" }, BASE);
  expect(other.read()?.document.key).toBe("new");
  other.forget();
  expect(other.read()?.document.key).toBe("");
  other.forget(offered ?? undefined);
  expect(other.read()).toBeNull();
});

it("says when the device has no room", () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException("full", "QuotaExceededError");
    },
  } as unknown as Storage;
  expect(new Drafts("ann", "/t/1", full).keep(document, BASE)).toBe(false);
});

it("is nothing when something else is stored in its place", () => {
  localStorage.setItem("turnwright draft of ann at /t/1", '{"document":3}');
  expect(new Drafts("ann", "/t/1").read()).toBeNull();
});
