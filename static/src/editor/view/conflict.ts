/** Both changed the same turn: mine, theirs and where both began, to choose from. */

import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Editor } from "../editor.ts";
import {
  type Choice,
  type Clash,
  type Conflict,
  clashesOf,
  type FieldClash,
  type Side,
} from "../merge.ts";
import { indexOfTurn, type Turn } from "../model.ts";
import { marked, turnText } from "./diff.ts";
import { icon } from "./icon.ts";
import { plural } from "./words.ts";

export function conflictView(editor: Editor, conflict: Conflict): TemplateResult {
  const { merged, author, number, message, choices } = conflict;
  const clashes = clashesOf(merged);
  const all = clashes.length + merged.fieldClashes.length;
  const done = choices.turns.size + choices.fields.size;
  return html`<section class="conflict" data-field="conflict" tabindex="-1" aria-labelledby="conflict-title">
    <div class="notice notice--warning" role="alert">
      ${icon("git-merge")}
      <div>
        <h2 id="conflict-title">${author} saved revision ${number} while you were writing</h2>
        <p>${message ? html`<q>${message}</q> ` : nothing}Both of you changed ${all === 1 ? "the same place" : `${all} of the same places`}. Everything else is merged${merged.taken > 0 ? html`, with ${plural(merged.taken, "turn")} of theirs` : nothing}. Choose what to keep here. Theirs stays in the history; yours is not there until it is saved, and what of it you leave out comes back only with Undo while this page is open.</p>
      </div>
    </div>
    ${clashes.map((clash, index) => clashView(editor, conflict, clash, index, author))}
    ${merged.fieldClashes.map((clash) => fieldView(editor, conflict, clash, author))}
    <div class="conflict__foot">
      <span class="soft">${done} of ${all} chosen</span>
      <button class="button" type="button" @click=${() => editor.closeConflict()}>Go on writing</button>
      <button class="button button--primary" type="button" aria-disabled=${done < all ? "true" : "false"} @click=${() => editor.saveChosen()}>Save the merged task</button>
    </div>
  </section>`;
}

function clashView(
  editor: Editor,
  conflict: Conflict,
  clash: Clash,
  index: number,
  author: string,
): TemplateResult {
  const { choices } = conflict;
  const chosen = choices.turns.get(clash.id);
  const choose = (choice: Choice): void => {
    const turns = new Map(choices.turns).set(clash.id, choice);
    editor.choose({ ...choices, turns });
  };
  const both = clash.mine.length > 0 && clash.theirs.length > 0;
  return html`<fieldset class="clash">
    <legend>${placeOf(editor, clash, index)}</legend>
    <div class="clash__sides">
      ${sideView("Mine", "mine", clash.mine, clash.base, chosen, choose, `clash-${clash.id}`)}
      ${sideView(author, "theirs", clash.theirs, clash.base, chosen, choose, `clash-${clash.id}`)}
    </div>
    <div class="clash__rest">
      ${
        clash.base.length > 0
          ? html`<details><summary>Where both began</summary>${clash.base.map((turn) => turnText(turn, undefined))}</details>
            ${radio("base", "Go back to where both began", chosen, choose, `clash-${clash.id}`)}`
          : nothing
      }
      ${both ? radio("both", "Keep both, mine first", chosen, choose, `clash-${clash.id}`) : nothing}
    </div>
  </fieldset>`;
}

function placeOf(editor: Editor, clash: Clash, index: number): string {
  const mine = clash.mine[0];
  if (mine) return `Turn ${indexOfTurn(editor.turns, mine.uid) + 1}`;
  return clash.base.length > 0 ? "A turn you removed" : `Place ${index + 1}`;
}

function sideView(
  title: string,
  choice: Side,
  turns: readonly Turn[],
  base: readonly Turn[],
  chosen: Choice | undefined,
  choose: (choice: Choice) => void,
  name: string,
): TemplateResult {
  return html`<div class="clash__side ${chosen === choice ? "is-chosen" : ""}">
    ${radio(choice, choice === "mine" ? "Keep mine" : `Take ${title}'s`, chosen, choose, name)}
    ${turns.map((turn, index) => turnText(turn, base[index]))}
    ${turns.length === 0 ? html`<p class="faint">${choice === "mine" ? "You" : title} removed this turn.</p>` : nothing}
  </div>`;
}

function radio<C extends Choice>(
  choice: C,
  words: string,
  chosen: Choice | undefined,
  choose: (choice: C) => void,
  name: string,
): TemplateResult {
  return html`<label class="clash__choice"><input type="radio" name=${name} .checked=${chosen === choice} @change=${() => choose(choice)} />${words}</label>`;
}

const FIELD_NAMES: Readonly<Record<FieldClash["field"], string>> = {
  key: "Key",
  split: "Split",
  status: "Status",
  tags: "Tags",
  attributes: "Attributes",
  others: "Tools and notes",
};

function fieldView(
  editor: Editor,
  conflict: Conflict,
  clash: FieldClash,
  author: string,
): TemplateResult {
  const { choices } = conflict;
  const chosen = choices.fields.get(clash.field);
  const choose = (side: Side): void => {
    editor.choose({ ...choices, fields: new Map(choices.fields).set(clash.field, side) });
  };
  const base = written(clash.base);
  const name = `clash-${clash.field}`;
  const one = (
    side: Side,
    words: string,
  ): TemplateResult => html`<div class="clash__side ${chosen === side ? "is-chosen" : ""}">
    ${radio(side, words, chosen, choose, name)}
    <div class="plain-turn__text mono">${marked(base, written(clash[side]))}</div>
  </div>`;
  return html`<fieldset class="clash">
    <legend>${FIELD_NAMES[clash.field]}</legend>
    <div class="clash__sides">${one("mine", "Keep mine")} ${one("theirs", `Take ${author}'s`)}</div>
    <div class="clash__rest">
      <details><summary>Where both began</summary><div class="plain-turn__text mono">${base}</div></details>
      ${radio("base", "Go back to where both began", chosen, choose, name)}
    </div>
  </fieldset>`;
}

function written(value: FieldClash["mine"]): string {
  if (typeof value === "string") return value;
  return value.map((each) => (typeof each === "string" ? each : each.join(": "))).join("\n");
}
