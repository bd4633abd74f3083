/**
 * Undo and redo without limit: values that share what they did not change.
 *
 * Steps with the same `field` that follow each other quickly are one step, so that undo takes back a
 * burst of typing and not a letter.
 */

export interface Step<Value> {
  readonly value: Value;
  /** What was done, as a person would say it: "Move turn". */
  readonly label: string;
  /** The turn or block it happened at, to go back to. */
  readonly at: number | null;
}

export interface Timeline<Value> {
  readonly past: Chain<Value>;
  readonly present: Value;
  readonly future: Chain<Value>;
  readonly field: string | null;
  readonly changedAt: number;
}

type Chain<Value> = { readonly step: Step<Value>; readonly rest: Chain<Value> } | null;

export interface Change<Value> {
  readonly value: Value;
  readonly label: string;
  readonly at?: number | null;
  /** Names a run of typing; steps without one are never joined. */
  readonly field?: string | null;
  /** Milliseconds. */
  readonly now?: number;
}

/** A pause of this many milliseconds begins a new step. */
export const PAUSE = 1200;

export function begin<Value>(value: Value): Timeline<Value> {
  return { past: null, present: value, future: null, field: null, changedAt: 0 };
}

export function record<Value>(line: Timeline<Value>, change: Change<Value>): Timeline<Value> {
  const { value, label, at = null, field = null, now = 0 } = change;
  if (value === line.present) return line;
  const joins = field !== null && field === line.field && now - line.changedAt < PAUSE;
  const past = joins ? line.past : { step: { value: line.present, label, at }, rest: line.past };
  return { past, present: value, future: null, field, changedAt: now };
}

/** End the current run of typing: the next change is a step of its own. */
export function pause<Value>(line: Timeline<Value>): Timeline<Value> {
  return line.field === null ? line : { ...line, field: null };
}

export function undo<Value>(line: Timeline<Value>): Timeline<Value> {
  if (line.past === null) return line;
  const { step, rest } = line.past;
  const future = { step: { ...step, value: line.present }, rest: line.future };
  return { past: rest, present: step.value, future, field: null, changedAt: 0 };
}

export function redo<Value>(line: Timeline<Value>): Timeline<Value> {
  if (line.future === null) return line;
  const { step, rest } = line.future;
  const past = { step: { ...step, value: line.present }, rest: line.past };
  return { past, present: step.value, future: rest, field: null, changedAt: 0 };
}
