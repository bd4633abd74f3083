import { html, type TemplateResult } from "lit/html.js";
import { SHEET } from "../keys.ts";
import { icon } from "./icon.ts";

/** All keys of the editor; opened by `?`. */
export function sheet(): TemplateResult {
  return html`<dialog class="dialog sheet" aria-labelledby="sheet-title" @click=${closeOutside}>
    <div class="dialog__body">
      <header class="sheet__head">
        <h2 id="sheet-title">Keys</h2>
        <form method="dialog"><button class="icon-button" aria-label="Close">${icon("x")}</button></form>
      </header>
      <div class="sheet__groups">
        ${SHEET.map(
          ({ title, lines }) => html`<section>
            <h3>${title}</h3>
            <dl>
              ${lines.map(
                ({ keys, does }) =>
                  html`<div><dt>${does}</dt><dd>${keys.map((key) => html`<kbd class="kbd">${key}</kbd>`)}</dd></div>`,
              )}
            </dl>
          </section>`,
        )}
      </div>
    </div>
  </dialog>`;
}

function closeOutside(event: Event): void {
  const dialog = event.currentTarget as HTMLDialogElement;
  if (event.target === dialog) dialog.close();
}
