/**
 * Two people changed one task: a three-way merge by turn.
 *
 * A turn that only one side changed, added or removed is taken from that side. Where both sides
 * changed the same turn, or added turns at the same place, a person chooses. Nothing is decided by
 * who came last, and nothing either side wrote is left out of what is shown.
 */

import { diffArrays } from "diff";
import { sameTags, type TaskDocument } from "./document.ts";
import { sameJson } from "./json.ts";
import { type Block, type Conversation, newUid, type Turn } from "./model.ts";
import { fingerprint } from "./wire.ts";

export type Side = "base" | "mine" | "theirs";
export type Choice = Side | "both";

export interface Agreed {
  readonly kind: "agreed";
  readonly turn: Turn;
  /** Whose change this is; `both` made the same one. */
  readonly by: Side | "both";
}
export interface Clash {
  readonly kind: "clash";
  readonly id: number;
  readonly base: readonly Turn[];
  readonly mine: readonly Turn[];
  readonly theirs: readonly Turn[];
}
export type Piece = Agreed | Clash;

type Field = "key" | "split" | "status" | "tags" | "attributes" | "others";
const FIELDS: readonly Field[] = ["key", "split", "status", "tags", "attributes", "others"];

export interface FieldClash {
  readonly field: Field;
  readonly base: TaskDocument[Field];
  readonly mine: TaskDocument[Field];
  readonly theirs: TaskDocument[Field];
}

export interface Merge {
  readonly pieces: readonly Piece[];
  /** Mine, with every field that only they changed. */
  readonly fields: TaskDocument;
  readonly fieldClashes: readonly FieldClash[];
  /** Turns that came from them, or that they removed. */
  readonly taken: number;
}

export interface Choices {
  readonly turns: ReadonlyMap<number, Choice>;
  readonly fields: ReadonlyMap<Field, Side>;
}

/** A merge that waits for somebody to choose, and whose revision it is with. */
export interface Conflict {
  readonly merged: Merge;
  readonly theirs: TaskDocument;
  readonly number: number;
  readonly author: string;
  readonly message: string;
  readonly choices: Choices;
}

export const NO_CHOICES: Choices = { turns: new Map(), fields: new Map() };

export function merge(base: TaskDocument, mine: TaskDocument, theirs: TaskDocument): Merge {
  const { pieces, taken } = mergeTurns(base.turns, mine.turns, theirs.turns);
  let fields = mine;
  const fieldClashes: FieldClash[] = [];
  for (const field of FIELDS) {
    if (same(field, base, theirs) || same(field, mine, theirs)) continue;
    if (same(field, base, mine)) fields = { ...fields, [field]: theirs[field] };
    else {
      const [ours, others] = [mine[field], theirs[field]];
      fieldClashes.push({ field, base: base[field], mine: ours, theirs: others });
    }
  }
  return { pieces, fields, fieldClashes, taken };
}

export function isClean(merged: Merge): boolean {
  return merged.fieldClashes.length === 0 && clashesOf(merged).length === 0;
}

export function clashesOf(merged: Merge): readonly Clash[] {
  return merged.pieces.filter((piece) => piece.kind === "clash");
}

/** The merged document, or null while a clash has no choice. */
export function resolve(merged: Merge, choices: Choices = NO_CHOICES): TaskDocument | null {
  const turns: Turn[] = [];
  for (const piece of merged.pieces) {
    if (piece.kind === "agreed") turns.push(piece.turn);
    else {
      const choice = choices.turns.get(piece.id);
      if (choice === undefined) return null;
      turns.push(...(choice === "both" ? [...piece.mine, ...piece.theirs] : piece[choice]));
    }
  }
  let resolved: TaskDocument = { ...merged.fields, turns: once(turns) };
  for (const clash of merged.fieldClashes) {
    const choice = choices.fields.get(clash.field);
    if (choice === undefined) return null;
    resolved = { ...resolved, [clash.field]: clash[choice] };
  }
  return resolved;
}

/** The same turn may come from two choices (kept here, moved there): each gets a uid of its own. */
function once(turns: readonly Turn[]): Conversation {
  const seen = new Set<number>();
  return turns.map((turn) => {
    const first = !seen.has(turn.uid);
    seen.add(turn.uid);
    return first ? turn : { ...turn, uid: newUid() };
  });
}

function same(field: Field, one: TaskDocument, other: TaskDocument): boolean {
  switch (field) {
    case "attributes":
      return sameJson(one.attributes, other.attributes);
    case "tags":
      return sameTags(one.tags, other.tags);
    case "others":
      return sameJson(JSON.stringify(one.others), JSON.stringify(other.others));
    default:
      return one[field] === other[field];
  }
}

// ---- turns --------------------------------------------------------------------------------------

function mergeTurns(
  base: Conversation,
  mine: Conversation,
  theirs: Conversation,
): { pieces: Piece[]; taken: number } {
  const ours = new Walk(base, mine);
  const others = new Walk(base, theirs);
  const pieces: Piece[] = [];
  let taken = 0;
  const put = (was: readonly Turn[], my: readonly Turn[], their: readonly Turn[]): void => {
    const [a, b, c] = [prints(was), prints(my), prints(their)];
    if (a === c || b === c) {
      const by = a === b ? "base" : b === c ? "both" : "mine";
      pieces.push(...my.map((turn): Agreed => ({ kind: "agreed", turn, by })));
    } else if (a === b) {
      taken += Math.max(their.length, my.length);
      const uid = my.length === 1 && their.length === 1 ? my[0]?.uid : undefined;
      const kept = their.map((turn) => (uid === undefined ? turn : { ...turn, uid }));
      pieces.push(...kept.map((turn): Agreed => ({ kind: "agreed", turn, by: "theirs" })));
    } else {
      const id = pieces.length;
      pieces.push({ kind: "clash", id, base: was, mine: my, theirs: their });
    }
  };
  for (const [index, turn] of base.entries()) {
    put([], ours.addedBefore(index), others.addedBefore(index));
    put([turn], ours.now(index), others.now(index));
  }
  put([], ours.addedBefore(base.length), others.addedBefore(base.length));
  return { pieces, taken };
}

function prints(turns: readonly Turn[]): string {
  return turns.map(fingerprint).join("\n");
}

/** What became of each turn of `base` in `other`, and what was added in between. */
class Walk {
  private readonly places: readonly (number | undefined)[];

  constructor(
    base: Conversation,
    private readonly other: Conversation,
  ) {
    this.places = align(base, other);
  }

  now(index: number): readonly Turn[] {
    const place = this.places[index];
    return place === undefined ? [] : this.other.slice(place, place + 1);
  }

  addedBefore(index: number): readonly Turn[] {
    let before = index - 1;
    while (before >= 0 && this.places[before] === undefined) before -= 1;
    // Turns after a removed turn are counted once: at the removed turn that comes first.
    if (before !== index - 1) return [];
    const start = before < 0 ? 0 : (this.places[before] ?? 0) + 1;
    let after = index;
    while (after < this.places.length && this.places[after] === undefined) after += 1;
    return this.other.slice(start, this.places[after] ?? this.other.length);
  }
}

/** For each turn of `base` its place in `other`, in rising order; undefined where it is gone. */
function align(base: Conversation, other: Conversation): (number | undefined)[] {
  const places: (number | undefined)[] = base.map(() => undefined);
  let [at, there] = [0, 0];
  let gap = { base: 0, other: 0 };
  const close = (): void => {
    pairAlike(base, other, { ...gap, baseEnd: at, otherEnd: there }, places);
  };
  for (const run of diffArrays(base.map(fingerprint), other.map(fingerprint))) {
    if (run.removed) at += run.count;
    else if (run.added) there += run.count;
    else {
      close();
      for (let step = 0; step < run.count; step += 1) places[at + step] = there + step;
      at += run.count;
      there += run.count;
      gap = { base: at, other: there };
    }
  }
  close();
  return places;
}

interface Gap {
  readonly base: number;
  readonly baseEnd: number;
  readonly other: number;
  readonly otherEnd: number;
}

const MOST_PAIRS = 40_000;
const ALIKE = 0.34;
/** A turn of the same role in the same gap that shares few words: better than no twin at all. */
const REWRITTEN = 0.01;

/** Between turns that are equal: pair those that are the same turn, edited, as many as possible. */
function pairAlike(
  base: Conversation,
  other: Conversation,
  gap: Gap,
  places: (number | undefined)[],
): void {
  const was = base.slice(gap.base, gap.baseEnd);
  const now = other.slice(gap.other, gap.otherEnd);
  if (was.length === 0 || now.length === 0 || was.length * now.length > MOST_PAIRS) return;
  const likeness = was.map((turn) => now.map((twin) => alike(turn, twin)));
  const best = bestSums(likeness);
  const sum = (row: number, column: number): number => best[row]?.[column] ?? 0;
  let [row, column] = [0, 0];
  while (row < was.length && column < now.length) {
    const here = likeness[row]?.[column] ?? 0;
    if (here > 0 && sum(row, column) === here + sum(row + 1, column + 1)) {
      places[gap.base + row] = gap.other + column;
      row += 1;
      column += 1;
    } else if (sum(row, column) === sum(row + 1, column)) row += 1;
    else column += 1;
  }
}

/** `best[i][j]`: the highest sum of likeness from row i and column j on, in rising order. */
function bestSums(likeness: readonly (readonly number[])[]): number[][] {
  const width = likeness[0]?.length ?? 0;
  const best: number[][] = [...likeness.map(() => new Array<number>(width + 1).fill(0))];
  best.push(new Array<number>(width + 1).fill(0));
  for (let row = likeness.length - 1; row >= 0; row -= 1) {
    const [line, below] = [best[row], best[row + 1]];
    if (!line || !below) continue;
    for (let column = width - 1; column >= 0; column -= 1) {
      const paired = (likeness[row]?.[column] ?? 0) + (below[column + 1] ?? 0);
      line[column] = Math.max(paired, below[column] ?? 0, line[column + 1] ?? 0);
    }
  }
  return best;
}

/** From 0 (another turn) to 1: whether one turn may be the other after an edit. */
function alike(one: Turn, other: Turn): number {
  if (one.uid === other.uid) return 1;
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const shared = [...words].filter((word) => others.has(word)).length;
  const all = words.size + others.size - shared;
  const ratio = all === 0 ? 1 : shared / all;
  const sameRole = one.role === other.role;
  if (ratio >= ALIKE) return sameRole ? ratio : ratio * 0.9;
  return sameRole ? REWRITTEN : 0;
}

const wordSets = new WeakMap<Turn, ReadonlySet<string>>();

function wordsOf(turn: Turn): ReadonlySet<string> {
  const known = wordSets.get(turn);
  if (known) return known;
  const words = new Set(turn.blocks.flatMap((block) => said(block).match(/[\p{L}\p{N}]+/gu) ?? []));
  wordSets.set(turn, words);
  return words;
}

function said(block: Block): string {
  switch (block.type) {
    case "text":
    case "reasoning":
      return block.text;
    case "image":
      return block.data.slice(0, 200);
    case "tool_call":
      return `${block.id} ${block.name} ${block.input}`;
    case "tool_result":
      return `${block.tool_call_id} ${block.blocks.map(said).join(" ")}`;
  }
}
