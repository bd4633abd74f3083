import { beforeEach, describe, expect, it, vi } from "vitest";
import { Drafts } from "./draft.ts";
import { Editor } from "./editor.ts";
import { patchBlock, setRole, type TextBlock, type Turn } from "./model.ts";
import type { Target } from "./place.ts";
import type { Handed } from "./server.ts";
import type { Surroundings } from "./surroundings.ts";

const text = (words: string) => ({ type: "text", text: words });
const content = (...words: string[]): string =>
  JSON.stringify({ messages: words.map((each) => ({ role: "user", blocks: [text(each)] })) });

function handed(number: number, written: string): Handed {
  const document = { number, content: written, key: "k", split: "test", status: "draft" } as const;
  return {
    environment: "alpha/shop",
    person: "ann",
    may_edit: true,
    splits: ["test"],
    tools: [],
    formats: ["openai"],
    save: "/save",
    preview: "/preview",
    history: "/history",
    document,
  };
}

interface Bench {
  editor: Editor;
  said: string[];
  /** What was said and is still to be read. */
  shown: [words: string, about: string | undefined][];
  renamed: string[];
  focused: Target[];
}

function open(written = content("one", "two"), number = 1): Bench {
  const said: string[] = [];
  const shown: Bench["shown"] = [];
  const renamed: string[] = [];
  const focused: Target[] = [];
  const around: Surroundings = {
    draw: (focus) => focus && focused.push(focus),
    announce: (words, _tone, about) => {
      said.push(words);
      shown.push([words, about]);
    },
    unsay: (about) => {
      shown.splice(0, shown.length, ...shown.filter((each) => each[1] !== about));
    },
    drafts: (person, address) => new Drafts(person, address),
    now: () => 0,
    later: () => undefined,
    renamed: (title) => renamed.push(title),
  };
  return { editor: new Editor(handed(number, written), around), said, shown, renamed, focused };
}

const sent: { address: string; body: string }[] = [];

/** The next answers of the server, in order. */
function answers(...list: { status: number; value: unknown }[]): void {
  vi.stubGlobal("fetch", async (address: string, options: { body: string }) => {
    sent.push({ address, body: options.body });
    const next = address === "/preview" ? preview : list.shift();
    if (!next) throw new TypeError("no answer");
    return new Response(JSON.stringify(next.value), {
      status: next.status,
      headers: { "Content-Type": "application/json" },
    });
  });
}

const preview = { status: 200, value: { problems: [], payloads: {} } };
const saved = (number: number) => ({
  status: 200,
  value: { number, key: "k", split: "test", status: "draft", tags: [] },
});
const stale = (current: string, base: string) => ({
  status: 409,
  value: {
    message: "stale",
    current: { ...handed(2, current).document, author: "bob", message: "", saved_at: "" },
    base: { number: 1, content: base },
  },
});

function write(editor: Editor, index: number, words: string): void {
  const block = (editor.turns[index] as Turn).blocks[0] as TextBlock;
  editor.changeTurns(
    "Typing",
    block.uid,
    patchBlock<TextBlock>(editor.turns, block.uid, { text: words }),
  );
}
const words = (editor: Editor): string[] =>
  editor.turns.map((turn) => (turn.blocks[0] as TextBlock).text);

beforeEach(() => {
  localStorage.clear();
  sent.length = 0;
});

describe("Saving", () => {
  it("asks for nothing when nothing has changed", async () => {
    const { editor, said } = open();
    answers();
    write(editor, 0, "changed");
    write(editor, 0, "one");
    await editor.save();
    expect(sent).toEqual([]);
    expect(said).toEqual(["Nothing has changed since the last save."]);
  });

  it("says so when the server cannot be reached, and keeps everything", async () => {
    const { editor, said } = open();
    answers();
    write(editor, 0, "changed");
    await editor.save();
    expect(said.at(-1)).toContain("cannot be reached");
    expect(words(editor)).toEqual(["changed", "two"]);
    expect(editor.isDirty).toBe(true);
    expect(editor.base.number).toBe(1);
  });

  it("keeps what is typed while the answer is on its way", async () => {
    const { editor } = open();
    answers(saved(2));
    write(editor, 0, "sent");
    const saving = editor.save();
    write(editor, 1, "typed later");
    await saving;
    expect(editor.base.number).toBe(2);
    expect(words(editor)).toEqual(["sent", "typed later"]);
    expect(editor.isDirty).toBe(true);
  });

  it("shows a refusal at its block until that turn is changed", async () => {
    const { editor, focused } = open();
    const refusal = { message: "is too odd", place: "messages[1].blocks[0].text" };
    answers({ status: 422, value: refusal });
    write(editor, 0, "changed");
    await editor.save();
    const block = editor.turns[1]?.blocks[0]?.uid;
    expect(editor.problems.map((each) => [each.block, each.message])).toEqual([
      [block, "The text is too odd."],
    ]);
    expect(focused.at(-1)).toMatchObject({ block, field: "text" });
    write(editor, 0, "elsewhere");
    expect(editor.problems).toHaveLength(1);
    write(editor, 1, "there");
    expect(editor.problems).toEqual([]);
  });

  it("names the field and the place of a refusal", async () => {
    const calling = (id: string, name: string) => ({ type: "tool_call", id, name, input: {} });
    const { editor, said, focused } = open(
      JSON.stringify({
        messages: [
          { role: "user", blocks: [text("one")] },
          { role: "assistant", blocks: [text("two"), calling("a", "f")] },
        ],
      }),
    );
    answers(
      { status: 422, value: { message: "must not be empty", place: "messages[1].blocks[1].name" } },
      {
        status: 422,
        value: {
          message: "Not ready to be served. messages[1].blocks[1]: the call 'a' has no result.",
          place: "messages[1].blocks[1]",
        },
      },
    );
    write(editor, 0, "changed");
    await editor.save();
    expect(said.at(-1)).toBe("Not saved. Turn 2, tool call: the name must not be empty.");
    const block = editor.turns[1]?.blocks[1]?.uid;
    expect(focused.at(-1)).toMatchObject({ block, field: "name" });
    await editor.save();
    expect(said.at(-1)).toBe(
      "Not saved. Not ready to be served. Turn 2, tool call: the call 'a' has no result.",
    );
  });

  it("takes back what was said of a failed save when the next one starts", async () => {
    const { editor, shown } = open();
    answers(
      { status: 422, value: { message: "must not be empty", place: "key" } },
      { status: 422, value: { message: "must not be empty", place: "key" } },
      saved(2),
    );
    write(editor, 0, "changed");
    await editor.save();
    await editor.save();
    expect(shown).toEqual([["Not saved. The key must not be empty.", "save"]]);
    await editor.save();
    expect(shown).toEqual([["Saved as revision 2.", "save"]]);
  });

  it("tells the page around it when the task was given another key", async () => {
    const { editor, renamed } = open();
    answers(saved(2), {
      status: 200,
      value: { number: 3, key: "parcel", split: "test", status: "draft", tags: [] },
    });
    write(editor, 0, "changed");
    await editor.save();
    expect(renamed).toEqual([]);
    editor.change("Change the key", null, { ...editor.document, key: "parcel" });
    await editor.save();
    expect(renamed).toEqual(["parcel"]);
  });

  it("does not send JSON that is none", async () => {
    const { editor, said, focused } = open();
    answers();
    editor.change("Typing", null, { ...editor.document, attributes: '{"a": ' });
    await editor.save();
    expect(sent).toEqual([]);
    expect(said.at(-1)).toBe("Not saved. Attributes, line 1, column 7: a value is missing.");
    expect(focused.at(-1)).toMatchObject({ turn: null, field: "attributes" });
  });
});

describe("Somebody else's save", () => {
  it("is merged and saved over when it changed other turns", async () => {
    const { editor, said } = open();
    answers(stale(content("one", "theirs"), content("one", "two")), saved(3));
    write(editor, 0, "mine");
    await editor.save();
    expect(words(editor)).toEqual(["mine", "theirs"]);
    expect(editor.base.number).toBe(3);
    expect(
      JSON.parse(sent.filter((each) => each.address === "/save").at(-1)?.body ?? ""),
    ).toMatchObject({
      base: 2,
    });
    expect(said).toContain("Merged 1 turn of revision 2 by bob.");
    editor.undo(); // the merge is a step like any other
    expect(words(editor)).toEqual(["mine", "two"]);
  });

  it("waits for a choice when it changed the same turn", async () => {
    const { editor } = open();
    answers(stale(content("theirs", "two"), content("one", "two")), saved(3));
    write(editor, 0, "mine");
    await editor.save();
    expect(editor.conflict?.author).toBe("bob");
    await editor.save();
    expect(sent.filter((each) => each.address === "/save")).toHaveLength(1);
    editor.choose({ turns: new Map([[0, "theirs"]]), fields: new Map() });
    await editor.saveChosen();
    expect(editor.conflict).toBeNull();
    expect(words(editor)).toEqual(["theirs", "two"]);
    expect(editor.base.number).toBe(2);
    expect(editor.isDirty).toBe(false);
  });
});

describe("Drafts", () => {
  it("are offered again, and taken back as one step", () => {
    const first = open();
    write(first.editor, 0, "kept");
    first.editor.keep();
    const second = open();
    expect(second.editor.offered?.document.turns).toHaveLength(2);
    second.editor.takeDraft();
    expect(words(second.editor)).toEqual(["kept", "two"]);
    expect(second.editor.offered).toBeNull();
    second.editor.undo();
    expect(words(second.editor)).toEqual(["one", "two"]);
  });

  it("are not offered when they are what is saved", () => {
    const first = open();
    write(first.editor, 0, "kept");
    first.editor.keep();
    expect(open(content("kept", "two"), 2).editor.offered).toBeNull();
  });

  it("are gone after a save", async () => {
    const { editor } = open();
    answers(saved(2));
    write(editor, 0, "kept");
    editor.keep();
    await editor.save();
    expect(open(content("kept", "two"), 2).editor.offered).toBeNull();
    expect(localStorage.length).toBe(0);
  });
});

describe("Checks", () => {
  it("are forgotten when somebody typed before the answer came", async () => {
    const { editor } = open();
    const problem = { place: "messages[0]", message: "old news", severity: "error" };
    vi.stubGlobal("fetch", async () => {
      write(editor, 0, "typed meanwhile");
      return new Response(JSON.stringify({ problems: [problem], payloads: {} }), {
        headers: { "Content-Type": "application/json" },
      });
    });
    await editor.preview();
    expect(editor.problems).toEqual([]);
  });

  it("are said once where the editor already knows", async () => {
    const { editor } = open(
      '{"messages":[{"role":"assistant","blocks":[{"type":"tool_call","id":"a","name":"f","input":{}}]},{"role":"assistant","blocks":[]}]}',
    );
    const problem = { place: "messages[0].blocks[0]", message: "no result", severity: "error" };
    vi.stubGlobal("fetch", async () => {
      return new Response(JSON.stringify({ problems: [problem], payloads: {} }), {
        headers: { "Content-Type": "application/json" },
      });
    });
    await editor.preview();
    const first = editor.turns[0];
    expect(editor.problems.filter((each) => each.turn === first?.uid)).toHaveLength(1);
  });
});

it("changes nothing for somebody who may only read", () => {
  const bench = open();
  bench.editor.handed = { ...bench.editor.handed, may_edit: false };
  const turn = bench.editor.turns[0] as Turn;
  bench.editor.changeTurns("Role", turn.uid, setRole(bench.editor.turns, turn.uid, "system"));
  expect(bench.editor.turns[0]?.role).toBe("user");
});
