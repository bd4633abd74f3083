import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Call } from "../calls.ts";
import * as commands from "../commands.ts";
import type { Editor } from "../editor.ts";
import type { TurnLanes } from "../lanes.ts";
import type { Mark } from "../lens.ts";
import { PLACEMENT, ROLES, type Role, type Turn, type Uid } from "../model.ts";
import type { AnyProblem } from "../remarks.ts";
import { blockView, detailOf, lanesView } from "./block.ts";
import { icon } from "./icon.ts";
import { type MenuItem, openMenu } from "./menu.ts";
import { markLines, problemLines } from "./problem.ts";
import { BLOCK_NAMES, ROLE_NAMES } from "./words.ts";

export interface TurnView {
  readonly editor: Editor;
  readonly turn: Turn;
  readonly index: number;
  readonly isSelected: boolean;
  /** Whether it shows its tools: hundreds of turns that all did would be slow to open. */
  readonly isActive: boolean;
  readonly problems: readonly AnyProblem[];
  readonly marks: readonly Mark[];
  readonly lanes: TurnLanes;
  /** The calls that results of this turn may answer. */
  readonly calls: readonly Call[];
  /** The calls of this turn that have no result. */
  readonly open: ReadonlySet<Uid>;
}

export function turnView(view: TurnView): TemplateResult {
  const { editor, turn, index, isSelected, problems, lanes } = view;
  const number = index + 1;
  return html`<section
    class="ed-turn ed-turn--${turn.role} ${isSelected ? "is-selected" : ""}"
    data-turn=${turn.uid}
    tabindex=${isSelected ? "0" : "-1"}
    aria-label="Turn ${number}, ${ROLE_NAMES[turn.role]}"
  >
    <header class="ed-turn__head">
      ${lanesView(lanes.head)}
      <div class="ed-turn__title">
        ${roleSelect(view, number)}
        <span class="ed-turn__number">${number}</span>
        ${detailOf(editor, turn, `turn ${number}`)}
      </div>
      ${view.isActive ? tools(view, number) : nothing}
    </header>
    ${repeat(
      turn.blocks,
      (block) => block.uid,
      (block) =>
        blockView({
          editor,
          turn,
          number,
          block,
          result: null,
          isActive: view.isActive,
          problems,
          marks: view.marks,
          lanes: lanes.blocks.get(block.uid) ?? [],
          calls: view.calls,
          isOpen: view.open.has(block.uid),
        }),
    )}
    ${turn.blocks.length === 0 ? emptyTurn(view) : nothing}
    <div class="ed-turn__gap">
      ${lanesView(lanes.gap)}
      ${problemLines(
        problems.filter((each) => each.block === null),
        turn.uid,
      )}
      ${markLines(view.marks.filter((each) => each.block === null))}
      ${
        !view.isActive
          ? nothing
          : html`<button class="insert" type="button" tabindex="-1" aria-label="Add a turn after turn ${number}" title="Add a turn here (a)" @click=${() => commands.addTurn(editor, index + 1)}>${icon("plus")}</button>`
      }
    </div>
  </section>`;
}

function roleSelect({ editor, turn }: TurnView, number: number): TemplateResult {
  const choose = (event: Event): void =>
    commands.setRole(editor, turn.uid, (event.target as HTMLSelectElement).value as Role);
  return html`<select class="ed-turn__role" data-field="role" aria-label="Role of turn ${number}" title="Role (1 system, 2 user, 3 assistant)" ?disabled=${editor.readOnly} @change=${choose}>
    ${ROLES.map((role) => html`<option value=${role} .selected=${live(role === turn.role)}>${ROLE_NAMES[role]}</option>`)}
  </select>`;
}

function tools(view: TurnView, number: number): TemplateResult {
  const { editor, turn, index } = view;
  const open = (groups: readonly (readonly MenuItem[])[]) => (event: Event) =>
    openMenu(event.currentTarget as HTMLElement, groups);
  const last = index === editor.turns.length - 1;
  return html`<div class="ed-turn__tools">
    <button class="ed-tool" type="button" aria-haspopup="menu" aria-expanded="false" aria-label="Add a block to turn ${number}" title="Add a block" @click=${open([blockItems(view)])}>${icon("plus")}</button>
    <button class="ed-tool ed-tool--wide" type="button" ?disabled=${index === 0} aria-label="Move turn ${number} up" title="Move up (Alt ↑)" @click=${() => commands.moveTurnBy(editor, turn.uid, -1)}>${icon("arrow-up")}</button>
    <button class="ed-tool ed-tool--wide" type="button" ?disabled=${last} aria-label="Move turn ${number} down" title="Move down (Alt ↓)" @click=${() => commands.moveTurnBy(editor, turn.uid, 1)}>${icon("arrow-down")}</button>
    <button class="ed-tool" type="button" aria-haspopup="menu" aria-expanded="false" aria-label="Turn ${number}: actions" title="Actions" @click=${open(turnItems(view))}>${icon("ellipsis")}</button>
    <span class="grip" data-drags="turn" draggable="true" title="Drag to move (Alt ↑ ↓)">${icon("grip-vertical")}</span>
  </div>`;
}

const KEY_OF_BLOCK = { text: "t", image: "i", reasoning: "r", tool_call: "c", tool_result: "o" };

function blockItems({ editor, turn }: TurnView): readonly MenuItem[] {
  return PLACEMENT[turn.role].map((type) => ({
    label: BLOCK_NAMES[type],
    key: KEY_OF_BLOCK[type],
    run: () => commands.addBlock(editor, turn.uid, type),
  }));
}

function turnItems({ editor, turn, index }: TurnView): readonly (readonly MenuItem[])[] {
  const uid = turn.uid;
  return [
    [
      { label: "Add a turn after", key: "a", run: () => commands.addTurn(editor, index + 1) },
      { label: "Add a turn before", key: "b", run: () => commands.addTurn(editor, index) },
    ],
    [
      { label: "Move up", key: "Alt ↑", run: () => commands.moveTurnBy(editor, uid, -1) },
      { label: "Move down", key: "Alt ↓", run: () => commands.moveTurnBy(editor, uid, 1) },
      { label: "Duplicate", key: "d", run: () => commands.duplicateTurn(editor, uid) },
      { label: "Edit its detail", run: () => editor.openDetail(uid) },
    ],
    [{ label: "Delete", key: "Del", danger: true, run: () => commands.removeTurn(editor, uid) }],
  ];
}

function emptyTurn(view: TurnView): TemplateResult {
  const { editor, turn } = view;
  const words = editor.readOnly ? "This turn is empty." : "This turn is empty. Add";
  return html`<div class="block block--empty"><span class="lanes"></span>
    <div class="block__body faint">${words}
      ${
        editor.readOnly
          ? nothing
          : PLACEMENT[turn.role].map(
              (type) =>
                html` <button class="link-button" type="button" @click=${() => commands.addBlock(editor, turn.uid, type)}>${BLOCK_NAMES[type].toLowerCase()}</button>`,
            )
      }
    </div></div>`;
}
