import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Uid } from "../model.ts";
import type { AnyProblem } from "../remarks.ts";
import { icon } from "./icon.ts";

export function problemId(uid: Uid | null, field: string): string {
  return `problem-${uid ?? "task"}-${field}`;
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
