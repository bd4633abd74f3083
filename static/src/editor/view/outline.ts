import { repeat } from "lit/directives/repeat.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Editor } from "../editor.ts";
import type { Tokens } from "../lens.ts";
import type { Uid } from "../model.ts";
import { worst } from "../problems.ts";
import type { AnyProblem } from "../remarks.ts";
import { icon } from "./icon.ts";
import { firstWords, plural, ROLE_NAMES } from "./words.ts";

/** The turns as a list: role, first words, a mark where something is wrong. */
export function outline(
  editor: Editor,
  of: ReadonlyMap<Uid, readonly AnyProblem[]>,
): TemplateResult {
  return html`<ol class="outline">
    ${repeat(
      editor.turns,
      (turn) => turn.uid,
      (turn, index) => {
        const problems = of.get(turn.uid) ?? [];
        const severity = worst(problems);
        const words = firstWords(turn);
        return html`<li data-turn=${turn.uid}>
          <button
            class="outline__turn outline__turn--${turn.role}"
            type="button"
            aria-current=${turn.uid === editor.selected ? "true" : nothing}
            data-drags=${editor.readOnly ? nothing : "turn"}
            draggable=${editor.readOnly ? "false" : "true"}
            @click=${() => editor.reveal({ turn: turn.uid, block: null, field: null })}
          >
            <span class="outline__number">${index + 1}</span>
            <span class="outline__role" aria-hidden="true"></span>
            <span class="visually-hidden">${ROLE_NAMES[turn.role]}:</span>
            <span class="outline__words ${words ? "" : "faint"}" dir="auto">${words || "empty"}</span>
            ${tokensOf(editor, turn.uid)}
            ${
              severity
                ? html`<span class="outline__mark outline__mark--${severity}">${icon("circle-alert")}<span class="visually-hidden">${plural(problems.length, "problem")}</span></span>`
                : nothing
            }
          </button>
        </li>`;
      },
    )}
  </ol>
  ${totalTokens(editor.lens.tokens)}`;
}

function tokensOf(editor: Editor, turn: Uid): TemplateResult | typeof nothing {
  const tokens = editor.lens.tokensOf(turn);
  if (tokens === null) return nothing;
  return html`<span class="outline__tokens" title="Tokens">${tokens.toLocaleString("en")}<span class="visually-hidden"> tokens</span></span>`;
}

/** The tokens of all turns, and what they are: counted by a tokenizer, or estimated. */
export function totalTokens(tokens: Tokens | null): TemplateResult | typeof nothing {
  if (tokens === null) return nothing;
  const count = plural(tokens.tokens, "token").replace(/^\d+/, (digits) =>
    Number(digits).toLocaleString("en"),
  );
  const images = tokens.images > 0 ? `, ${plural(tokens.images, "image")} not counted` : "";
  const how = tokens.exact === null ? "estimated" : tokens.exact;
  return html`<p class="tokens faint" title="Of the texts that a model reads, without what an API puts around them">${count} <span class="tokens__how">${how}</span>${images}</p>`;
}
