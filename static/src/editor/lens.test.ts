import { describe, expect, it } from "vitest";
import type { TaskDocument } from "./document.ts";
import { Lens, namesOf, notServedWords, type SaidProblem } from "./lens.ts";
import { readContent } from "./wire.ts";

const text = (words: string) => ({ type: "text", text: words });
const DOCUMENT: TaskDocument = {
  ...readContent(
    JSON.stringify({
      messages: [
        { role: "user", blocks: [text("go")] },
        { role: "assistant", blocks: [{ type: "reasoning", text: "hm" }, text("done")] },
      ],
    }),
  ),
  key: "k",
  split: "test",
  status: "draft",
};
const [first, second] = DOCUMENT.turns;
const thought = second?.blocks[0];

const said = (
  format: string,
  message: string,
  severity: "error" | "warning" = "error",
  place = "messages[1].blocks[0]",
): SaidProblem => ({ place, message: `${format} ${message}`, severity });

function lens(): Lens {
  const made = new Lens();
  made.take(
    {
      openai: [said("openai", "sends it otherwise", "warning")],
      anthropic: [
        said("anthropic", "takes none"),
        said("anthropic", "is odd", "error", "messages"),
      ],
      google: [said("google", "takes none"), said("google", "wants a user", "warning")],
      prompt: [],
    },
    { exact: "o200k_base", tokens: 1234, images: 1, turns: [4, 1230] },
    DOCUMENT,
  );
  return made;
}
const never = () => false;

describe("The lens", () => {
  it("lists all that a provider says, at its block and without its name", () => {
    expect(lens().of("google", DOCUMENT.turns)).toEqual([
      {
        turn: second?.uid,
        block: thought?.uid,
        field: null,
        message: "takes none.",
        severity: "error",
      },
      {
        turn: second?.uid,
        block: thought?.uid,
        field: null,
        message: "wants a user.",
        severity: "warning",
      },
    ]);
    expect(lens().of("mistral", DOCUMENT.turns)).toEqual([]);
  });

  it("leaves out what was said of a turn that is gone", () => {
    expect(lens().of("google", first ? [first] : [])).toEqual([]);
    expect(
      lens()
        .of("anthropic", first ? [first] : [])
        .map((each) => each.message),
    ).toEqual(["is odd."]);
  });

  it("marks once what several providers cannot carry", () => {
    expect(lens().marks(second?.uid ?? 0, null, never)).toEqual([
      {
        block: thought?.uid,
        formats: ["anthropic", "google"],
        message: "takes none.",
        severity: "error",
      },
    ]);
    expect(lens().marks(first?.uid ?? 0, null, never)).toEqual([]);
  });

  it("marks warnings of the provider that is looked at only", () => {
    const marks = lens().marks(second?.uid ?? 0, "openai", never);
    expect(marks.map((each) => [each.formats, each.severity])).toEqual([
      [["openai"], "warning"],
      [["anthropic", "google"], "error"],
    ]);
  });

  it("is silent where something is wrong for everybody", () => {
    expect(lens().marks(second?.uid ?? 0, "openai", (block) => block === thought?.uid)).toEqual([]);
  });

  it("knows who cannot carry the conversation, and the tokens of every turn", () => {
    expect(lens().refusing).toEqual(["anthropic", "google"]);
    expect(lens().tokensOf(second?.uid ?? 0)).toBe(1230);
    expect(new Lens().tokensOf(1)).toBeNull();
  });
});

it("names providers as people do", () => {
  expect(namesOf(["openai"])).toBe("OpenAI");
  expect(namesOf(["openai", "anthropic", "google"])).toBe("OpenAI, Anthropic and Google");
  expect(notServedWords([])).toBe("");
  expect(notServedWords(["openai", "openrouter"])).toBe(
    " It is ready, but not for harnesses that ask for the format of OpenAI.",
  );
});
