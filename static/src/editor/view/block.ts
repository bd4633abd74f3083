/** One block of a turn, or of what a tool result holds, as a card that is written in. */

import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { Call } from "../calls.ts";
import * as commands from "../commands.ts";
import type { Editor } from "../editor.ts";
import type { Lane } from "../lanes.ts";
import type { Mark } from "../lens.ts";
import {
  BLOCK_NOUNS,
  type Block,
  type ImageBlock,
  PLACEMENT,
  RESULT_HOLDS,
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  type Uid,
} from "../model.ts";
import { MIME_TYPES, pictureIn, sizeOf } from "../picture.ts";
import type { AnyProblem } from "../remarks.ts";
import { retypesOf } from "../retyping.ts";
import { shownInArea } from "../typing.ts";
import { icon } from "./icon.ts";
import { jsonField } from "./json_field.ts";
import { type MenuItem, openMenu } from "./menu.ts";
import { markLines, problemId, problemLines } from "./problem.ts";
import { BLOCK_NAMES, size } from "./words.ts";

export interface BlockView {
  readonly editor: Editor;
  readonly turn: Turn;
  readonly number: number;
  readonly block: Block;
  /** The tool result that holds it, if one does. */
  readonly result: ToolResultBlock | null;
  readonly isActive: boolean;
  readonly problems: readonly AnyProblem[];
  readonly marks: readonly Mark[];
  readonly lanes: readonly Lane[];
  readonly calls: readonly Call[];
  /** Whether the block, a call, has no result yet. */
  readonly isOpen: boolean;
}

export function blockView(view: BlockView): TemplateResult {
  const { block, problems, result } = view;
  const mine = problems.filter((each) => each.block === block.uid);
  const wrong = mine.some((each) => each.severity === "error");
  return html`<div
    class="block block--${block.type} ${wrong ? "is-wrong" : ""}"
    data-block=${block.uid}
    role="group"
    tabindex="-1"
    aria-label="${BLOCK_NAMES[block.type]}${result ? " of the result" : ""}, turn ${view.number}"
  >
    ${result ? nothing : lanesView(view.lanes)}
    <div class="block__body">${body(view)} ${detailField(view)}
      ${problemLines(mine, block.uid)}
      ${markLines(view.marks.filter((each) => each.block === block.uid))}
    </div>
    ${
      !view.isActive
        ? nothing
        : html`<div class="block__tools">
            <span class="grip" data-drags="block" draggable="true" title="Drag to move (Alt Shift ↑ ↓)">${icon("grip-vertical")}</span>
            <button class="ed-tool" type="button" aria-haspopup="menu" aria-expanded="false" aria-label="${BLOCK_NAMES[block.type]} of turn ${view.number}: actions" title="Actions" @click=${(event: Event) => openMenu(event.currentTarget as HTMLElement, menuOf(view))}>${icon("ellipsis")}</button>
          </div>`
    }
  </div>`;
}

/** For `aria-invalid`: whether an error is said of this field of the block. */
function isWrong({ problems, block }: BlockView, field: string): "true" | "false" {
  const wrong = problems.some(
    (each) => each.block === block.uid && each.field === field && each.severity === "error",
  );
  return wrong ? "true" : "false";
}

export function lanesView(lanes: readonly Lane[]): TemplateResult {
  return html`<span class="lanes">${lanes.map(
    (lane) => html`<i class="lane lane--${lane.part} lane--${lane.column}"></i>`,
  )}</span>`;
}

function body(view: BlockView): TemplateResult {
  const { block } = view;
  switch (block.type) {
    case "text":
      return textBody(view, block);
    case "image":
      return imageBody(view, block);
    case "reasoning":
      return reasoningBody(view, block);
    case "tool_call":
      return callBody(view, block);
    case "tool_result":
      return resultBody(view, block);
  }
}

// ---- text and reasoning -------------------------------------------------------------------------

function textBody(view: BlockView, block: TextBlock): TemplateResult {
  const data = view.result !== null && /^\s*[{[]/.test(block.text);
  const look = data ? "area area--mono" : "area area--read";
  return area(view, block, look, `Text, turn ${view.number}`);
}

function area(
  view: BlockView,
  block: TextBlock | ReasoningBlock,
  look: string,
  label: string,
): TemplateResult {
  const { editor, result, turn } = view;
  const holder = result?.uid ?? turn.uid;
  const take = (event: ClipboardEvent | DragEvent, transfer: DataTransfer | null): void => {
    if (commands.addPicture(editor, transfer, holder, block.uid)) event.preventDefault();
  };
  return html`<textarea
    class=${look}
    data-field="text"
    rows="1"
    dir="auto"
    aria-label=${label}
    aria-invalid=${isWrong(view, "text")}
    placeholder=${editor.readOnly ? nothing : result ? "What the tool answered" : "Write here"}
    ?readonly=${editor.readOnly}
    .value=${live(shownInArea(block.text))}
    @input=${(event: InputEvent) => commands.typeText(editor, block.uid, (event.target as HTMLTextAreaElement).value)}
    @paste=${(event: ClipboardEvent) => take(event, event.clipboardData)}
    @drop=${(event: DragEvent) => take(event, event.dataTransfer)}
  ></textarea>`;
}

const FOLDED_LINES = 3;
const LINE_LENGTH = 84;

function linesOf(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.ceil(line.length / LINE_LENGTH || 1), 0);
}

function reasoningBody(view: BlockView, block: ReasoningBlock): TemplateResult {
  const { editor } = view;
  const lines = linesOf(block.text);
  const folds = lines > FOLDED_LINES;
  const folded = folds && !editor.unfolded.has(block.uid);
  return html`<div class="ed-reasoning ${folded ? "is-folded" : ""}" @focusin=${() => folded && editor.fold(block.uid, false)}>
    <div class="block__label">${icon("brain")}Reasoning
      ${block.signature === null ? nothing : signature(editor, block)}
      ${
        folds
          ? html`<button class="link-button" type="button" aria-expanded=${folded ? "false" : "true"} @focusin=${(event: Event) => event.stopPropagation()} @click=${() => editor.fold(block.uid, !folded)}>${folded ? `Show all ${lines} lines` : "Fold"}</button>`
          : nothing
      }
    </div>
    ${area(view, block, "area area--quiet", `Reasoning, turn ${view.number}`)}
  </div>`;
}

function signature(editor: Editor, block: ReasoningBlock): TemplateResult {
  const seal = html`<span class="chip" title="The provider's seal on this text. A changed text may no longer match it.">${icon("lock-keyhole")}signed</span>`;
  if (editor.readOnly) return seal;
  return html`${seal}<button class="link-button" type="button" @click=${() => commands.dropSignature(editor, block.uid)}>Take off</button>`;
}

// ---- image --------------------------------------------------------------------------------------

function imageBody(view: BlockView, block: ImageBlock): TemplateResult {
  const { editor, number } = view;
  const choose = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void commands.setPicture(editor, block.uid, file);
    input.value = "";
  };
  const take = (event: ClipboardEvent | DragEvent, transfer: DataTransfer | null): void => {
    const file = pictureIn(transfer);
    if (!file || editor.readOnly) return;
    event.preventDefault();
    void commands.setPicture(editor, block.uid, file);
  };
  const empty = block.data === "";
  const picker = html`<label class="ed-picture__choose ${empty ? "button button--small" : "link-button"}"
    >${empty ? html`${icon("image-plus")}Choose a picture` : "Replace"}<input
      class="visually-hidden"
      type="file"
      accept=${MIME_TYPES.join(",")}
      data-field="data"
      aria-label="${empty ? "Choose" : "Replace"} the picture, turn ${number}"
      @change=${choose}
  /></label>`;
  return html`<div
    class="ed-picture ${empty ? "is-empty" : ""}"
    @dragover=${(event: DragEvent) => !editor.readOnly && event.dataTransfer?.types.includes("Files") && event.preventDefault()}
    @drop=${(event: DragEvent) => take(event, event.dataTransfer)}
    @paste=${(event: ClipboardEvent) => take(event, event.clipboardData)}
  >
    ${
      empty
        ? html`${editor.readOnly ? nothing : picker}<span class="faint">or paste or drop one here: PNG, JPEG, GIF or WebP, up to 5 MB</span>`
        : html`<img class="ed-picture__shown" src="data:${block.mimeType};base64,${block.data}" alt="Picture in turn ${number}" />
            <div class="ed-picture__facts faint">${block.mimeType} · ${size(sizeOf(block.data))} ${editor.readOnly ? nothing : picker}</div>`
    }
  </div>`;
}

// ---- tools --------------------------------------------------------------------------------------

function callBody(view: BlockView, block: ToolCallBlock): TemplateResult {
  const { editor, number } = view;
  return html`<div class="card-tool">
    <div class="card-tool__head">
      ${icon("wrench")}
      <input class="bare bare--mono bare--name" data-field="name" list="tool-names" placeholder="tool name" autocomplete="off" spellcheck="false" aria-label="Name of the tool, turn ${number}" title=${block.name || nothing} aria-invalid=${isWrong(view, "name")} ?readonly=${editor.readOnly} .value=${live(block.name)} @input=${(event: InputEvent) => commands.typeName(editor, block.uid, (event.target as HTMLInputElement).value)} />
      <input class="bare bare--mono bare--id" data-field="id" placeholder="id" autocomplete="off" spellcheck="false" aria-label="Id of the call, turn ${number}" title="Id of the call; its result follows when it is changed" aria-invalid=${isWrong(view, "id")} ?readonly=${editor.readOnly} .value=${live(block.id)} @change=${(event: Event) => commands.renameCall(editor, block.uid, (event.target as HTMLInputElement).value)} />
    </div>
    ${jsonField({
      text: block.input,
      label: `Input of the call as JSON, turn ${number}`,
      field: "input",
      readOnly: editor.readOnly,
      wrong: isWrong(view, "input") === "true" ? problemId(block.uid, "") : null,
      type: (text) => commands.typeInput(editor, block.uid, text),
    })}
    ${
      view.isOpen && !editor.readOnly
        ? html`<button class="link-button card-tool__answer" type="button" @click=${() => commands.answerCall(editor, block.uid)}>${icon("corner-down-right")}Add its result</button>`
        : nothing
    }
  </div>`;
}

function resultBody(view: BlockView, block: ToolResultBlock): TemplateResult {
  const { editor, number, calls } = view;
  const known = calls.some((call) => call.block.id === block.tool_call_id);
  const choose = (event: Event): void =>
    commands.chooseCall(editor, block.uid, (event.target as HTMLSelectElement).value);
  const options = [
    ...(known ? [] : [{ id: block.tool_call_id, words: unknownCall(block.tool_call_id) }]),
    ...calls.map(({ block: { id, name } }) => ({ id, words: `${name || "unnamed"} · ${id}` })),
  ];
  return html`<div class="card-tool card-tool--result ${block.is_error ? "is-error" : ""}">
    <div class="card-tool__head">
      ${icon("corner-down-right")}
      <select class="bare bare--mono bare--select" data-field="tool_call_id" aria-label="The call this result answers, turn ${number}" aria-invalid=${known ? isWrong(view, "tool_call_id") : "true"} ?disabled=${editor.readOnly} @change=${choose}>
        ${options.map(({ id, words }) => html`<option value=${id} .selected=${live(id === block.tool_call_id)}>${words}</option>`)}
      </select>
      <label class="error-switch"><input type="checkbox" role="switch" ?disabled=${editor.readOnly} .checked=${live(block.is_error)} @change=${(event: Event) => commands.setError(editor, block.uid, (event.target as HTMLInputElement).checked)} />Error</label>
    </div>
    <div class="card-tool__held">
      ${repeat(
        block.blocks,
        (held) => held.uid,
        (held) => blockView({ ...view, block: held, result: block, lanes: [], isOpen: false }),
      )}
      ${block.blocks.length === 0 ? html`<p class="faint">The tool answered nothing.</p>` : nothing}
    </div>
    ${
      editor.readOnly
        ? nothing
        : html`<div class="card-tool__foot">${RESULT_HOLDS.map(
            (type) =>
              html`<button class="link-button" type="button" @click=${() => commands.addBlock(editor, block.uid, type)}>${icon("plus")}${BLOCK_NAMES[type]}</button>`,
          )}</div>`
    }
  </div>`;
}

function unknownCall(id: string): string {
  return id === "" ? "Choose a call" : `${id} (not a call of the turn before)`;
}

// ---- detail and actions -------------------------------------------------------------------------

function detailField(view: BlockView): TemplateResult | typeof nothing {
  return detailOf(view.editor, view.block, `${BLOCK_NAMES[view.block.type]}, turn ${view.number}`);
}

/** The `detail` of a block or a turn: a quiet mark, or the JSON itself once it is opened. */
export function detailOf(
  editor: Editor,
  of: { uid: Uid; detail: string | null },
  where: string,
): TemplateResult | typeof nothing {
  if (!editor.detailed.has(of.uid)) {
    if (of.detail === null) return nothing;
    return html`<button class="link-button" type="button" title=${of.detail} @click=${() => editor.openDetail(of.uid)}>${icon("braces")}detail</button>`;
  }
  return html`<div class="detail">
    <div class="block__label">${icon("braces")}detail <span class="faint">kept beside the text; no model sees it</span>
      <button class="link-button" type="button" @click=${() => editor.closeDetail(of.uid)}>Close</button>
    </div>
    ${jsonField({
      text: of.detail ?? "",
      label: `Detail as JSON: ${where}`,
      field: "detail",
      readOnly: editor.readOnly,
      wrong: null,
      placeholder: "{}",
      type: (text) => commands.typeDetail(editor, of.uid, text),
    })}
  </div>`;
}

function menuOf({ editor, turn, block, result }: BlockView): readonly (readonly MenuItem[])[] {
  const allowed = PLACEMENT[turn.role];
  const retypes = result ? [] : retypesOf(block).filter((type) => allowed.includes(type));
  const uid = block.uid;
  return [
    retypes.map((type) => ({
      label: `Turn into ${BLOCK_NOUNS[type]}`,
      run: () => commands.retypeBlock(editor, uid, type),
    })),
    [
      {
        label: "Move up",
        key: "Alt Shift ↑",
        run: () => commands.moveBlockBy(editor, uid, -1),
      },
      {
        label: "Move down",
        key: "Alt Shift ↓",
        run: () => commands.moveBlockBy(editor, uid, 1),
      },
      { label: "Duplicate", run: () => commands.duplicateBlock(editor, uid) },
      { label: "Edit its detail", run: () => editor.openDetail(uid) },
    ],
    [{ label: "Delete", danger: true, run: () => commands.removeBlock(editor, uid) }],
  ];
}
