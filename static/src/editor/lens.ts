/**
 * What providers would refuse of the conversation, and its tokens, as the server last said.
 *
 * An answer is shown until the next one comes: the marks under a block do not go away and come back
 * while somebody types in it.
 */

import type { TaskDocument } from "./document.ts";
import type { Conversation, Uid } from "./model.ts";
import { type Target, targetOf } from "./place.ts";
import type { Severity } from "./problems.ts";

export interface SaidProblem {
  readonly place: string;
  readonly message: string;
  readonly severity: Severity;
}

/** Tokens of the texts; `exact` names the tokenizer, null stands for an estimate. */
export interface Tokens {
  readonly exact: string | null;
  readonly tokens: number;
  readonly images: number;
  readonly turns: readonly number[];
}

/** A problem of one provider. */
export interface LensProblem extends Target {
  /** Without the provider's name in front, in lower case. */
  readonly message: string;
  readonly severity: Severity;
}

/** What one or several providers say of the same block (or turn, where `block` is null). */
export interface Mark {
  readonly block: Uid | null;
  readonly formats: readonly string[];
  readonly message: string;
  readonly severity: Severity;
}

export const FORMAT_NAMES: Readonly<Record<string, string>> = {
  openai: "OpenAI",
  openrouter: "OpenRouter",
  anthropic: "Anthropic",
  google: "Google",
  responses: "Responses",
  prompt: "/prompt",
};

export class Lens {
  /** Of the whole conversation; null before the first answer. */
  tokens: Tokens | null = null;
  private said = new Map<string, readonly LensProblem[]>();
  private counted = new Map<Uid, number>();

  /** Take what the server said of the document that it was sent. */
  take(
    lens: Readonly<Record<string, readonly SaidProblem[]>> | undefined,
    tokens: Tokens | undefined,
    document: TaskDocument,
  ): void {
    this.said = new Map(
      Object.entries(lens ?? {}).map(([format, problems]) => [
        format,
        problems.map((each) => ({
          ...targetOf(each.place, document.turns),
          message: withoutName(each.message, format),
          severity: each.severity,
        })),
      ]),
    );
    this.tokens = tokens ?? null;
    this.counted = new Map(
      document.turns.map((turn, index) => [turn.uid, tokens?.turns[index] ?? 0]),
    );
  }

  /** All that one provider would refuse, of what is still there. */
  of(format: string, turns: Conversation): readonly LensProblem[] {
    const problems = this.said.get(format) ?? [];
    return problems.filter(({ turn }) => turn === null || turns.some((each) => each.uid === turn));
  }

  /** The formats that cannot carry the conversation. */
  get refusing(): readonly string[] {
    return [...this.said]
      .filter(([, problems]) => problems.some((each) => each.severity === "error"))
      .map(([format]) => format);
  }

  tokensOf(turn: Uid): number | null {
    return this.counted.get(turn) ?? null;
  }

  /**
   * What to mark in a turn: what a provider cannot carry, and the warnings of the provider that is
   * being looked at. What is wrong for everybody is said elsewhere, so it is left out.
   */
  marks(
    turn: Uid,
    lookedAt: string | null,
    isKnown: (block: Uid | null) => boolean,
  ): readonly Mark[] {
    const marks = new Map<string, Mark>();
    for (const [format, problems] of this.said) {
      for (const { block, message, severity, ...at } of problems) {
        if (at.turn !== turn || isKnown(block)) continue;
        if (severity === "warning" && format !== lookedAt) continue;
        const key = `${block} ${severity} ${message}`;
        const formats = [...(marks.get(key)?.formats ?? []), format];
        marks.set(key, { block, formats, message, severity });
      }
    }
    return [...marks.values()];
  }
}

/** `google cannot carry …` as it is said beside the name: `cannot carry …`. */
function withoutName(message: string, format: string): string {
  const bare = message.startsWith(`${format} `) ? message.slice(format.length + 1) : message;
  return /[.!?…]$/.test(bare) ? bare : `${bare}.`;
}

/** After a save as ready: the formats in which harnesses cannot be served it. */
export function notServedWords(unserved: readonly string[] = []): string {
  const told = unserved.filter((format) => format !== "openrouter"); // It is OpenAI's twin.
  if (told.length === 0) return "";
  return ` It is ready, but not for harnesses that ask for the format of ${namesOf(told)}.`;
}

export function namesOf(formats: readonly string[]): string {
  const names = formats.map((format) => FORMAT_NAMES[format] ?? format);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
