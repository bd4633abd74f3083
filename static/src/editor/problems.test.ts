import { describe, expect, it } from "vitest";
import { type Conversation, newBlock, setRole } from "./model.ts";
import { problemsOf, worst } from "./problems.ts";
import { readContent } from "./wire.ts";

function read(...messages: unknown[]): Conversation {
  return readContent(JSON.stringify({ messages })).turns;
}
const said = (turns: Conversation): string[] =>
  problemsOf(turns).map((problem) => {
    const turn = turns.findIndex((each) => each.uid === problem.turn);
    return `${turn} ${problem.severity}: ${problem.message}`;
  });

const text = (words: string) => ({ type: "text", text: words });
const call = (id: string, name = "look", input: unknown = {}) => ({
  type: "tool_call",
  id,
  name,
  input,
});
const result = (id: string, ...blocks: unknown[]) => ({
  type: "tool_result",
  tool_call_id: id,
  blocks,
  is_error: false,
});
const user = (...blocks: unknown[]) => ({ role: "user", blocks });
const assistant = (...blocks: unknown[]) => ({ role: "assistant", blocks });

describe("Calls and results", () => {
  it("are fine when each call is answered once before the conversation goes on", () => {
    const turns = read(
      assistant(call("a"), call("b")),
      user(result("b")),
      user(result("a"), text("and?")),
      assistant(call("a")),
      user(result("a")),
    );
    expect(said(turns)).toEqual([]);
  });

  it("are fine across turns that use an id again", () => {
    const turns = read(
      assistant(call("a")),
      user(result("a")),
      assistant(call("a")),
      user(result("a")),
    );
    expect(said(turns)).toEqual([]);
  });

  it("warn about a call that waits at the end, and refuse one left behind", () => {
    expect(said(read(assistant(call("a"))))).toEqual([
      "0 warning: The call “a” waits for its result.",
    ]);
    const goesOn = "0 error: The call “a” has no result, though the conversation goes on.";
    expect(said(read(assistant(call("a")), assistant(text("b"))))).toEqual([goesOn]);
    expect(said(read(assistant(call("a")), user(text("b"))))).toEqual([goesOn]);
  });

  it("name an orphan, a second answer and a double id", () => {
    expect(said(read(user(result("a"))))).toEqual([
      "0 error: The result “a” answers no call of the turn before it.",
    ]);
    expect(said(read(assistant(call("a")), user(result("a"), result("a"))))).toEqual([
      "1 error: The call “a” is answered a second time.",
    ]);
    expect(said(read(assistant(call("a"), call("a")), user(result("a"))))).toEqual([
      "0 error: The id “a” is used by two calls of this turn.",
    ]);
  });
});

describe("Placement and fields", () => {
  it("are marked where a block may not stand", () => {
    const [turn] = read(assistant(call("a")));
    const turns = turn ? setRole([turn], turn.uid, "user") : [];
    expect(said(turns)).toEqual([
      "0 error: A tool call cannot stand in a user turn, which holds text, image or tool result.",
    ]);
    expect(worst(problemsOf(turns))).toBe("error");
  });

  it("ask for what is missing", () => {
    const [turn] = read(assistant(call("a", "", { x: 1 })));
    const turns = turn ? [{ ...turn, blocks: [...turn.blocks, newBlock("image")] }] : [];
    expect(said(turns)).toEqual([
      "0 error: Name the tool.",
      "0 error: No picture is chosen yet.",
      "0 warning: The call “a” waits for its result.",
    ]);
    expect(said(read(assistant(call("a")), user(result(""))))).toEqual([
      "0 error: The call “a” has no result, though the conversation goes on.",
      "1 error: Choose the call that this result answers.",
    ]);
  });

  it("name the line of broken JSON and of half a character", () => {
    const [turn] = read(assistant(call("a")));
    const [block] = turn?.blocks ?? [];
    const broken = turn && block ? [{ ...turn, blocks: [{ ...block, input: '{"a": }' }] }] : [];
    expect(said(broken as Conversation)[0]).toBe("0 error: Line 1, column 7: a value is missing.");
    expect(said(read(user(text("half \ud83d"))))).toEqual([
      "0 error: Holds half of a character pair, which is not text.",
    ]);
    expect(said(read(user(text("whole \u{1f600}"))))).toEqual([]);
  });
});
