/** What is wrong with the task being written: what is seen here at once, and what the server said. */

import type { TaskDocument } from "./document.ts";
import { jsonFault } from "./json.ts";
import type { Turn } from "./model.ts";
import { type Target, targetOf } from "./place.ts";
import { sentenceAt } from "./placing.ts";
import { type Problem, problemsOf, type Severity } from "./problems.ts";

/** A problem of the task around the conversation: its key, its attributes. */
export interface FactProblem {
  readonly turn: null;
  readonly block: null;
  readonly field: string | null;
  readonly message: string;
  readonly severity: Severity;
}
export type AnyProblem = Problem | FactProblem;

/** Everything that can be seen without asking the server. */
export function liveProblems(document: TaskDocument): readonly AnyProblem[] {
  const fault = jsonFault(document.attributes, "object");
  const problems = problemsOf(document.turns);
  return fault ? [...problems, ofTask("attributes", fault.sentence, "error")] : problems;
}

const JSON_FIELDS: ReadonlySet<string | null> = new Set(["input", "detail", "attributes"]);

/** Whether a live problem is JSON that is none yet: it cannot be part of what is sent. */
export function isUnsendable(problem: AnyProblem): boolean {
  return JSON_FIELDS.has(problem.field) && problem.message.startsWith("Line ");
}

interface Remark {
  readonly problem: AnyProblem;
  /** What it was said of: it holds while that is still there, unchanged. */
  readonly of: Turn | TaskDocument;
}

/** What the server said of the document it was sent. */
export class Remarks {
  private said: readonly Remark[] = [];

  clear(): void {
    this.said = [];
  }

  /** Remember a remark, and answer where it belongs. */
  add(
    { place, message, severity }: { place: string; message: string; severity: Severity },
    document: TaskDocument,
  ): Target {
    const target = targetOf(place, document.turns);
    const sentence = sentenceAt(target, message);
    const turn = document.turns.find((each) => each.uid === target.turn);
    const remark: Remark = turn
      ? { problem: { ...target, turn: turn.uid, message: sentence, severity }, of: turn }
      : { problem: ofTask(target.field, sentence, severity), of: document };
    this.said = [...this.said, remark];
    return target;
  }

  /** The live problems, and after them the remarks that still hold and say something more. */
  besides(live: readonly AnyProblem[], document: TaskDocument): readonly AnyProblem[] {
    const further = this.said.filter(({ problem, of }) => {
      const holds = of === document || document.turns.includes(of as Turn);
      return holds && !live.some((each) => sameSpot(each, problem));
    });
    return [...live, ...further.map((each) => each.problem)];
  }
}

function ofTask(field: string | null, message: string, severity: Severity): FactProblem {
  return { turn: null, block: null, field, message, severity };
}

function sameSpot(one: AnyProblem, other: AnyProblem): boolean {
  if (one.turn !== other.turn || one.block !== other.block) return false;
  return one.turn !== null || one.field === other.field;
}
