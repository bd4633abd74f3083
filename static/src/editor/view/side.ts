/** The panel beside the conversation: the task, what is wrong, what providers get, the history. */

import { unsafeHTML } from "lit/directives/unsafe-html.js";
import { until } from "lit/directives/until.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Editor, Tab } from "../editor.ts";
import { FORMAT_NAMES, type LensProblem } from "../lens.ts";
import { indexOfTurn, type Uid } from "../model.ts";
import { type Target, targetOf } from "../place.ts";
import { sentenceFrom, sentenceOf, whereIs } from "../placing.ts";
import { worst } from "../problems.ts";
import type { AnyProblem } from "../remarks.ts";
import { facts } from "./facts.ts";
import { icon } from "./icon.ts";
import { outline, totalTokens } from "./outline.ts";
import { plural } from "./words.ts";

export interface SideView {
  readonly editor: Editor;
  readonly problems: readonly AnyProblem[];
  readonly byTurn: ReadonlyMap<Uid, readonly AnyProblem[]>;
}

export function side(view: SideView): TemplateResult {
  const { editor, problems } = view;
  const errors = problems.filter((each) => each.severity === "error").length;
  const tab = (name: Tab, words: string, count = 0, look = ""): TemplateResult => html`<button
    class=${look}
    type="button"
    role="tab"
    id="tab-${name}"
    aria-controls="panel"
    aria-selected=${editor.tab === name ? "true" : "false"}
    tabindex=${editor.tab === name ? "0" : "-1"}
    @click=${() => editor.show(name)}
  >${words}${count > 0 ? html` <span class="badge ${errors > 0 ? "badge--danger" : "badge--warning"}">${count}</span>` : nothing}</button>`;
  return html`<div class="side__head">
      <div class="tabs" role="tablist" aria-label="Beside the conversation" @keydown=${walkTabs}>
        ${tab("turns", "Turns", 0, "tab--turns")} ${tab("task", "Task")}
        ${tab("problems", "Problems", problems.length)} ${tab("payload", "Payload")}
        ${editor.handed.history ? tab("history", "History") : nothing}
      </div>
      <button class="icon-button side__close" type="button" aria-label="Close the panel" @click=${() => editor.togglePanel(false)}>${icon("x")}</button>
    </div>
    <div class="side__body" id="panel" role="tabpanel" tabindex="0" aria-labelledby="tab-${editor.tab}">${panel(view)}</div>`;
}

function walkTabs(event: KeyboardEvent): void {
  const steps = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (steps === undefined) return;
  const list = event.currentTarget as HTMLElement;
  const tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")].filter(
    (each) => each.offsetParent !== null,
  );
  const here = tabs.indexOf(document.activeElement as HTMLElement);
  const next = tabs.at((here + steps) % tabs.length);
  next?.click();
  next?.focus();
  event.preventDefault();
}

function panel({ editor, problems, byTurn }: SideView): TemplateResult {
  switch (editor.tab) {
    case "turns":
      return outline(editor, byTurn);
    case "task":
      return facts(editor, problems);
    case "problems":
      return problemList(editor, problems);
    case "payload":
      return payload(editor);
    case "history":
      return history(editor);
  }
}

function problemList(editor: Editor, problems: readonly AnyProblem[]): TemplateResult {
  if (problems.length === 0) {
    return html`<div class="side__note">
      <p>${icon("check")} Nothing is wrong.</p>
      <p class="faint">Calls without results, results without calls, ids used twice and blocks out of place are marked here while you write.</p>
    </div>`;
  }
  const rest =
    "A draft may be saved with open calls and results; to be ready, all errors have to go.";
  return html`<ul class="problem-list">
      ${problems.map(
        (
          each,
        ) => html`<li><button class="problem-list__item problem--${each.severity}" type="button" @click=${() => editor.reveal(each)}>
          ${each.severity === "error" ? icon("circle-alert") : icon("triangle-alert")}
          <span><strong>${whereOf(editor, each)}</strong> ${each.message}</span>
        </button></li>`,
      )}
    </ul>
    <p class="side__note faint">${rest}</p>`;
}

function whereOf(editor: Editor, problem: AnyProblem): string {
  if (problem.turn === null) return "Task";
  return `Turn ${indexOfTurn(editor.turns, problem.turn) + 1}`;
}

function payload(editor: Editor): TemplateResult {
  const shown = editor.payload;
  const name = FORMAT_NAMES[editor.format] ?? editor.format;
  const problems = editor.lens.of(editor.format, editor.turns);
  const refused = shown !== null && "message" in shown ? shown : null;
  const isCarried = !problems.some((each) => each.severity === "error");
  return html`<div class="payload">
    <div class="switch" role="group" aria-label="Format">
      ${editor.handed.formats.map((format) => formatButton(editor, format))}
    </div>
    ${problems.length > 0 ? lensList(editor, problems, isCarried ? null : name) : nothing}
    ${
      refused && isCarried
        ? html`<div class="notice notice--warning">${icon("triangle-alert")}<p>${sentenceFrom(targetOf(refused.place, editor.turns), refused.message, editor.turns)}</p></div>`
        : nothing
    }
    ${shown === null ? html`<div class="skeleton payload__wait" role="status" aria-label="Loading"></div>` : nothing}
    ${shown !== null && "json" in shown ? html`<pre class="payload__json" tabindex="0" aria-label="What ${name} is sent">${shown.json}</pre>` : nothing}
    ${totalTokens(editor.lens.tokens)}
  </div>`;
}

function formatButton(editor: Editor, format: string): TemplateResult {
  const name = FORMAT_NAMES[format] ?? format;
  const severity = worst(editor.lens.of(format, editor.turns));
  const words = severity === "error" ? "cannot carry this" : "would refuse this or change it";
  return html`<button type="button" aria-pressed=${editor.format === format ? "true" : "false"} @click=${() => editor.showFormat(format)}>${name}${
    severity === null
      ? nothing
      : html`<span class="switch__mark switch__mark--${severity}" title="${name} ${words}"><span class="visually-hidden">: ${words}</span></span>`
  }</button>`;
}

/** All that one provider would refuse; each leads to its place. `name` is who cannot carry it. */
function lensList(
  editor: Editor,
  problems: readonly LensProblem[],
  name: string | null,
): TemplateResult {
  return html`<div class="payload__problems">
    ${name === null ? nothing : html`<p class="payload__refused">${icon("ban")}<strong>${name} cannot carry this.</strong></p>`}
    <ul class="problem-list">
      ${problems.map(
        (
          each,
        ) => html`<li><button class="problem-list__item problem--${each.severity}" type="button" @click=${() => editor.reveal(each)}>
          ${each.severity === "error" ? icon("circle-alert") : icon("triangle-alert")}
          <span>${each.turn === null ? nothing : html`<strong>${placeOf(editor, each)}</strong> `}${sentenceOf(each.message)}</span>
        </button></li>`,
      )}
    </ul>
  </div>`;
}

function placeOf(editor: Editor, target: Target): string {
  const words = whereIs(target, editor.turns);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function history(editor: Editor): TemplateResult {
  const list = historyOf(editor.handed.history, editor.base.number);
  return html`<div class="history-list">
    ${until(list, html`<div class="skeleton payload__wait" role="status" aria-label="Loading"></div>`)}
    <p class="side__note"><a href=${editor.handed.history}>Compare revisions</a></p>
  </div>`;
}

let known: { name: string; list: Promise<unknown> } | null = null;

/** The server's own list; asked for once for each revision that became current. */
function historyOf(address: string, number: number): Promise<unknown> {
  const name = `${address} ${number}`;
  if (known?.name !== name) {
    const list = fetch(address, { headers: { "HX-Request": "true" } }).then(
      async (answer) =>
        answer.ok ? unsafeHTML(await answer.text()) : "The history could not be loaded.",
      () => "The server cannot be reached.",
    );
    known = { name, list };
  }
  return known.list;
}

export function problemCount(problems: readonly AnyProblem[]): string {
  return problems.length === 0 ? "no problems" : plural(problems.length, "problem");
}
