/** Turns as plain text, with the words that differ from another version of them marked. */

import { diffArrays } from "diff";
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
  return pieces(before, now).map(({ change, text }) =>
    change === "added"
      ? html`<ins>${text}</ins>`
      : change === "removed"
        ? html`<del>${text}</del>`
        : text,
  );
}

export interface Piece {
  readonly change: "same" | "added" | "removed";
  readonly text: string;
}

/**
 * `now` in pieces, with what is gone where it stood. Punctuation stands apart from words, and a
 * space between two changed words is no sameness. `apps/tasks/comparison.py` does the same.
 */
export function pieces(before: string, now: string): readonly Piece[] {
  const made: Piece[] = [];
  let removed = "";
  let added = "";
  const close = (): void => {
    const end = /\s*$/.exec(removed)?.[0] ?? "";
    const tail = added.endsWith(end) ? end : "";
    const without = (text: string): string => text.slice(0, text.length - tail.length);
    if (without(removed)) made.push({ change: "removed", text: without(removed) });
    if (without(added)) made.push({ change: "added", text: without(added) });
    if (tail) made.push({ change: "same", text: tail });
    removed = added = "";
  };
  const parts = diffArrays(tokens(before), tokens(now));
  parts.forEach((part, index) => {
    const text = part.value.join("");
    if (part.added) added += text;
    else if (part.removed) removed += text;
    else if (removed && added && !text.trim() && index < parts.length - 1) {
      removed += text;
      added += text;
    } else {
      close();
      made.push({ change: "same", text });
    }
  });
  close();
  return made;
}

/** Apostrophes and underscores are inside of words. */
const TOKEN = /\s+|[^\s\p{P}\p{S}'’_](?:[^\s\p{P}\p{S}]|['’_])*|./gsu;

function tokens(text: string): string[] {
  return text.match(TOKEN) ?? [];
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
