/** What one save carries: the content and the facts of the task around it. */

import { sameJson } from "./json.ts";
import { type Content, EMPTY, fingerprint } from "./wire.ts";

export type Status = "draft" | "ready" | "archived";

export interface TaskDocument extends Content {
  readonly key: string;
  readonly split: string;
  readonly status: Status;
}

export function emptyDocument(split: string): TaskDocument {
  return { ...EMPTY, key: "", split, status: "draft" };
}

/** Whether nothing would change by saving `one` over `other`. */
export function sameDocument(one: TaskDocument, other: TaskDocument): boolean {
  if (one === other) return true;
  return (
    one.key === other.key &&
    one.split === other.split &&
    one.status === other.status &&
    sameContent(one, other)
  );
}

export function sameContent(one: Content, other: Content): boolean {
  return (
    one.turns.length === other.turns.length &&
    one.turns.every((turn, index) => {
      const twin = other.turns[index];
      return turn === twin || (twin !== undefined && fingerprint(turn) === fingerprint(twin));
    }) &&
    sameJson(one.attributes, other.attributes) &&
    sameTags(one.tags, other.tags) &&
    sameOthers(one, other)
  );
}

export function sameTags(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((tag, index) => tag === other[index]);
}

function sameOthers(one: Content, other: Content): boolean {
  return (
    one.others.length === other.others.length &&
    one.others.every(([key, value], index) => {
      const twin = other.others[index];
      return twin !== undefined && twin[0] === key && sameJson(value, twin[1]);
    })
  );
}

/** How many turns of `one` are not, as they are, in `other`, and the other way round. */
export function countChangedTurns(one: TaskDocument, other: TaskDocument): number {
  const left = new Set(one.turns.map(fingerprint));
  const right = new Set(other.turns.map(fingerprint));
  return Math.max(
    [...left].filter((each) => !right.has(each)).length,
    [...right].filter((each) => !left.has(each)).length,
  );
}

/** About how many characters the turns have as JSON, pictures included. */
export function sizeOf(document: TaskDocument): number {
  return document.turns.reduce((sum, turn) => sum + fingerprint(turn).length, 0);
}
