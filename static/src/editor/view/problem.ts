import { html, nothing, type TemplateResult } from "lit/html.js";
import { FORMAT_NAMES, type Mark } from "../lens.ts";
import type { Uid } from "../model.ts";
import type { AnyProblem } from "../remarks.ts";
import { icon } from "./icon.ts";

export function problemId(uid: Uid | null, field: string): string {
  return `problem-${uid ?? "task"}-${field}`;
}

/** What providers would refuse at a place, quieter than what is wrong for everybody. */
export function markLines(marks: readonly Mark[]): TemplateResult | typeof nothing {
  if (marks.length === 0) return nothing;
  return html`<ul class="marks" aria-label="Providers">
    ${marks.map(
      (mark) => html`<li class="mark mark--${mark.severity}">
        ${mark.severity === "error" ? icon("ban") : icon("triangle-alert")}
        <span><strong>${mark.formats.map((each) => FORMAT_NAMES[each] ?? each).join(", ")}:</strong> ${mark.message}</span>
      </li>`,
    )}
  </ul>`;
}

/** What is wrong at a place, under it; nothing if nothing is. */
export function problemLines(
  problems: readonly AnyProblem[],
  uid: Uid | null,
  field = "",
): TemplateResult | typeof nothing {
  if (problems.length === 0) return nothing;
  return html`<ul class="problems" id=${problemId(uid, field)}>
    ${problems.map(
      (each) => html`<li class="problem problem--${each.severity}">
        ${each.severity === "error" ? icon("circle-alert") : icon("triangle-alert")}
        <span>${each.message}</span>
      </li>`,
    )}
  </ul>`;
}
