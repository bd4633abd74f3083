/** The task around the conversation: key, split, status, tags, attributes. */

import { live } from "lit/directives/live.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Status } from "../document.ts";
import type { Editor } from "../editor.ts";
import { namesOf } from "../lens.ts";
import type { AnyProblem } from "../remarks.ts";
import { icon } from "./icon.ts";
import { jsonField } from "./json_field.ts";
import { problemId, problemLines } from "./problem.ts";

const STATUSES: readonly { value: Status; name: string; says: string }[] = [
  { value: "draft", name: "Draft", says: "Being written; harnesses do not see it." },
  { value: "ready", name: "Ready", says: "Served to harnesses; it has to be complete." },
  { value: "archived", name: "Archived", says: "Out of every list; its history stays." },
];

export function facts(editor: Editor, problems: readonly AnyProblem[]): TemplateResult {
  const { document, readOnly } = editor;
  const at = (field: string) =>
    problems.filter((each) => each.turn === null && each.field === field);
  const wrong = (field: string) => at(field).length > 0;
  const set = (label: string, field: "key" | "split", value: string): void =>
    editor.change(label, null, { ...editor.document, [field]: value }, field);
  const status = STATUSES.find((each) => each.value === document.status);
  return html`<div class="facts-form">
    <div class="field">
      <label class="field__label" for="fact-key">Key</label>
      <input class="input input--mono" id="fact-key" data-field="key" autocomplete="off" spellcheck="false" maxlength="200" placeholder=${editor.isNew ? "made from its position" : nothing} aria-invalid=${wrong("key") ? "true" : "false"} aria-describedby=${wrong("key") ? problemId(null, "key") : nothing} ?readonly=${readOnly} .value=${live(document.key)} @input=${(event: InputEvent) => set("Change the key", "key", (event.target as HTMLInputElement).value)} />
      ${problemLines(at("key"), null, "key")}
    </div>
    <div class="field">
      <label class="field__label" for="fact-split">Split</label>
      <select class="select" id="fact-split" data-field="split" aria-invalid=${wrong("split") ? "true" : "false"} ?disabled=${readOnly} @change=${(event: Event) => set("Change the split", "split", (event.target as HTMLSelectElement).value)}>
        ${editor.handed.splits.map((name) => html`<option value=${name} .selected=${live(name === document.split)}>${name}</option>`)}
        ${editor.handed.splits.length === 0 ? html`<option value="">no split yet</option>` : nothing}
      </select>
      ${problemLines(at("split"), null, "split")}
    </div>
    <fieldset class="field">
      <legend class="field__label">Status</legend>
      <div class="segments" data-field="status">
        ${STATUSES.filter((each) => each.value !== "archived" || !editor.isNew).map(
          ({ value, name }) =>
            html`<label><input type="radio" name="status" value=${value} ?disabled=${readOnly} .checked=${live(document.status === value)} @change=${() => editor.change("Change the status", null, { ...editor.document, status: value })} /><span>${name}</span></label>`,
        )}
      </div>
      <p class="field__help">${status?.says}</p>
      ${document.status === "ready" ? notServed(editor) : nothing}
      ${problemLines(at("status"), null, "status")}
    </fieldset>
    <div class="field">
      <label class="field__label" for="fact-tags">Tags <span class="field__optional">separated by commas</span></label>
      <input class="input" id="fact-tags" data-field="tags" autocomplete="off" aria-invalid=${wrong("tags") ? "true" : "false"} ?readonly=${readOnly} .value=${live(document.tags.join(", "))} @change=${(event: Event) => editor.change("Change the tags", null, { ...editor.document, tags: tagsOf((event.target as HTMLInputElement).value) })} />
      ${problemLines(at("tags"), null, "tags")}
    </div>
    <div class="field">
      <span class="field__label">Attributes</span>
      ${jsonField({
        text: document.attributes,
        label: "Attributes as JSON",
        field: "attributes",
        readOnly,
        wrong: wrong("attributes") ? problemId(null, "attributes") : null,
        type: (text) =>
          editor.change("Typing", null, { ...editor.document, attributes: text }, "attributes"),
      })}
      ${problemLines(at("attributes"), null, "attributes")}
      <p class="field__help">The columns that templates and scorers see as <code>sample</code>, like <code>question</code> and <code>target</code>.</p>
    </div>
    ${readOnly ? nothing : messageField(editor, "message-beside")}
    ${problemLines(
      problems.filter((each) => each.turn === null && !FIELDS.has(each.field ?? "")),
      null,
      "other",
    )}
  </div>`;
}

/** Ready is ready; but who asks for certain formats is told that they cannot carry it. */
function notServed(editor: Editor): TemplateResult | typeof nothing {
  const refusing = editor.lens.refusing.filter((format) => format !== "openrouter");
  if (refusing.length === 0) return nothing;
  const show = (): void => {
    editor.showFormat(refusing[0] ?? editor.format);
    editor.show("payload");
  };
  return html`<ul class="marks"><li class="mark mark--warning">${icon("triangle-alert")}<span>${namesOf(refusing)} cannot carry this conversation: harnesses that ask for ${refusing.length === 1 ? "this format" : "these formats"} are refused it. <button class="link-button" type="button" @click=${show}>Show why</button></span></li></ul>`;
}

const FIELDS = new Set(["key", "split", "status", "tags", "attributes"]);

export function messageField(editor: Editor, id: string): TemplateResult {
  return html`<div class="field message-field">
    <label class="field__label" for=${id}>What changed <span class="field__optional">optional</span></label>
    <input class="input" id=${id} data-field="message" maxlength="500" autocomplete="off" .value=${live(editor.message)} @input=${(event: InputEvent) => editor.setMessage((event.target as HTMLInputElement).value)} />
  </div>`;
}

function tagsOf(text: string): readonly string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

export function statusChip(status: Status): TemplateResult {
  const look = status === "ready" ? "chip--ok" : "chip--outline";
  const name = STATUSES.find((each) => each.value === status)?.name;
  return html`<span class="chip ${look}">${status === "ready" ? icon("check") : nothing}${name}</span>`;
}
