import { html, type TemplateResult } from "lit/html.js";

const sprite = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="icons"]')?.content ?? "";

/** An icon of the sprite, for templates. The name must be written literally at the call. */
export function icon(name: string): TemplateResult {
  return html`<svg class="icon" aria-hidden="true"><use href="${sprite()}#${name}"></use></svg>`;
}
