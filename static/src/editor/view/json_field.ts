import { live } from "lit/directives/live.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { jsonFault, prettyJson } from "../json.ts";
import type { JsonText } from "../model.ts";

export interface JsonField {
  readonly text: JsonText;
  readonly label: string;
  readonly field: string;
  readonly readOnly: boolean;
  /** The id of the element that says what is wrong, if something is. */
  readonly wrong: string | null;
  readonly placeholder?: string;
  readonly type: (text: string) => void;
}

/** JSON in a text area that grows; what is wrong is said by the caller, beneath. */
export function jsonField(options: JsonField): TemplateResult {
  const { text, label, field, readOnly, wrong } = options;
  const format = (): void => options.type(prettyJson(text));
  const canFormat = !readOnly && jsonFault(text) === null && prettyJson(text) !== text;
  return html`<div class="ed-json">
    <textarea
      class="area area--mono"
      data-field=${field}
      rows="1"
      spellcheck="false"
      autocapitalize="off"
      autocomplete="off"
      aria-label=${label}
      aria-invalid=${wrong ? "true" : "false"}
      aria-describedby=${wrong ?? nothing}
      placeholder=${options.placeholder ?? nothing}
      ?readonly=${readOnly}
      .value=${live(text)}
      @input=${(event: InputEvent) => options.type((event.target as HTMLTextAreaElement).value)}
      @keydown=${indent}
    ></textarea>
    ${
      canFormat
        ? html`<button class="ed-json__format" type="button" @click=${format}>Format</button>`
        : nothing
    }
  </div>`;
}

/** Enter keeps the indentation of the line, and opens a level after a bracket. */
function indent(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey) return;
  const area = event.target as HTMLTextAreaElement;
  if (area.readOnly) return;
  const before = area.value.slice(0, area.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const space = /^\s*/.exec(line)?.[0] ?? "";
  const opens = /[{[]\s*$/.test(line);
  const closes = opens && /^\s*[}\]]/.test(area.value.slice(area.selectionEnd));
  const inner = `\n${space}${opens ? "  " : ""}`;
  const outer = closes ? `\n${space}` : "";
  area.setRangeText(inner + outer, area.selectionStart, area.selectionEnd, "end");
  const caret = area.selectionStart - outer.length;
  area.setSelectionRange(caret, caret);
  area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  event.preventDefault();
}
