/** Turns as plain text, with the words that differ from another version of them marked. */

import { diffWordsWithSpace } from "diff";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { prettyIfJson } from "../json.ts";
import type { Block, Turn } from "../model.ts";
import { BLOCK_NAMES, ROLE_NAMES } from "./words.ts";

/** Longer texts are shown without marks: finding them would hold up the page. */
const LONGEST = 60_000;

export function turnText(turn: Turn, was: Turn | undefined): TemplateResult {
  return html`<div class="plain-turn plain-turn--${turn.role}">
    <p class="plain-turn__role">${ROLE_NAMES[turn.role]}${
      was && was.role !== turn.role
        ? html` <span class="faint">was ${ROLE_NAMES[was.role]}</span>`
        : nothing
    }</p>
    ${turn.blocks.map((block, index) => {
      const twin = was?.blocks[index];
      const before = twin?.type === block.type ? textOf(twin) : was ? "" : undefined;
      return html`<div class="plain-turn__block plain-turn__block--${block.type}">
        ${block.type === "text" ? nothing : html`<p class="block__label">${BLOCK_NAMES[block.type]}</p>`}
        <div class="plain-turn__text" dir="auto">${marked(before, textOf(block))}</div>
      </div>`;
    })}
    ${turn.blocks.length === 0 ? html`<p class="faint">Nothing in it.</p>` : nothing}
  </div>`;
}

/** `now`, with what was added since `before` marked and what was taken away shown struck out. */
export function marked(before: string | undefined, now: string): unknown {
  if (before === undefined || before === now || before.length + now.length > LONGEST) return now;
  return diffWordsWithSpace(before, now).map((part) =>
    part.added
      ? html`<ins>${part.value}</ins>`
      : part.removed
        ? html`<del>${part.value}</del>`
        : part.value,
  );
}

function textOf(block: Block): string {
  switch (block.type) {
    case "text":
    case "reasoning":
      return block.text;
    case "image":
      return `${block.mimeType}, ${block.data.length} characters of base64`;
    case "tool_call":
      return `${block.name} (${block.id})\n${prettyIfJson(block.input)}`;
    case "tool_result": {
      const head = `${block.is_error ? "Error of" : "Answers"} ${block.tool_call_id}`;
      return [head, ...block.blocks.map(textOf)].join("\n");
    }
  }
}
