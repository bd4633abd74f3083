/** The whole editor: head, outline, conversation, panel. */

import { guard } from "lit/directives/guard.js";
import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { callsBefore, resultsAfter } from "../calls.ts";
import { addTurn } from "../commands.ts";
import { countChangedTurns } from "../document.ts";
import type { Editor } from "../editor.ts";
import { lanesOf } from "../lanes.ts";
import type { Mark } from "../lens.ts";
import type { Turn, Uid } from "../model.ts";
import { worst } from "../problems.ts";
import type { AnyProblem } from "../remarks.ts";
import { conflictView } from "./conflict.ts";
import { statusChip } from "./facts.ts";
import { icon } from "./icon.ts";
import { outline } from "./outline.ts";
import { sheet } from "./sheet.ts";
import { side } from "./side.ts";
import { turnView } from "./turn.ts";
import { ago, moment, plural } from "./words.ts";

export function pageView(editor: Editor, openSheet: () => void): TemplateResult {
  const problems = editor.problems;
  const byTurn = new Map<Uid, AnyProblem[]>();
  for (const each of problems) {
    if (each.turn === null) continue;
    const list = byTurn.get(each.turn);
    if (list) list.push(each);
    else byTurn.set(each.turn, [each]);
  }
  return html`${head(editor, problems, openSheet)}
    <div class="editor__columns ${editor.panelOpen ? "has-panel" : ""}">
      <nav class="editor__outline" aria-label="Turns">${outline(editor, byTurn)}</nav>
      <div class="editor__conversation">
        ${offer(editor)}
        ${editor.conflict ? conflictView(editor, editor.conflict) : conversation(editor, byTurn)}
      </div>
      <aside class="editor__side" aria-label="Task, problems, payload, history">
        ${side({ editor, problems, byTurn })}
      </aside>
    </div>
    <datalist id="tool-names">${editor.handed.tools.map((name) => html`<option value=${name}></option>`)}</datalist>
    ${sheet()}`;
}

// ---- head ---------------------------------------------------------------------------------------

function head(
  editor: Editor,
  problems: readonly AnyProblem[],
  openSheet: () => void,
): TemplateResult {
  const { document } = editor;
  const title = document.key || (editor.isNew ? "New task" : "Task");
  return html`<div class="editor__head">
    <div class="editor__title">
      <h1 title=${title}>${title}</h1>
      ${statusChip(document.status)}
      <span class="editor__state" role="status">${state(editor)}</span>
    </div>
    <div class="editor__actions">
      ${
        editor.readOnly
          ? nothing
          : html`<button class="icon-button" type="button" aria-label="Undo" title=${undoTitle(editor)} ?disabled=${editor.line.past === null} @click=${() => editor.undo()}>${icon("undo-2")}</button>
              <button class="icon-button" type="button" aria-label="Redo" title="Redo (Ctrl Shift Z)" ?disabled=${editor.line.future === null} @click=${() => editor.redo()}>${icon("redo-2")}</button>`
      }
      <button class="icon-button editor__keys" type="button" aria-label="Keys" title="Keys (?)" @click=${openSheet}>${icon("keyboard")}</button>
      <button class="icon-button editor__panel" type="button" aria-label="Panel: task, ${plural(problems.length, "problem")}, payload, history" aria-expanded=${editor.panelOpen ? "true" : "false"} @click=${() => editor.togglePanel()}>${icon("panel-right")}${problems.length > 0 ? html`<span class="badge badge--${worst(problems) === "error" ? "danger" : "warning"}">${problems.length}</span>` : nothing}</button>
      ${editor.readOnly ? nothing : saving(editor)}
    </div>
  </div>`;
}

function saving(editor: Editor): TemplateResult {
  const message = (event: InputEvent): void =>
    editor.setMessage((event.target as HTMLInputElement).value);
  const words = editor.saving ? "Saving…" : editor.isNew ? "Save the task" : "Save";
  return html`<input class="input editor__message" data-field="message" aria-label="What changed" placeholder="What changed (optional)" maxlength="500" autocomplete="off" .value=${live(editor.message)} @input=${message} />
    <button class="button button--primary" type="button" title="Save (Ctrl Enter)" aria-disabled=${editor.saving || editor.conflict ? "true" : "false"} @click=${() => editor.save()}>${words}</button>`;
}

function undoTitle(editor: Editor): string {
  const step = editor.line.past?.step;
  return step ? `Undo: ${step.label.toLowerCase()} (Ctrl Z)` : "Nothing to undo";
}

function state(editor: Editor): string {
  if (editor.readOnly) return `Revision ${editor.base.number}, for reading`;
  if (editor.saving) return "Saving…";
  if (editor.isDirty) {
    if (editor.keptAt === false) return "Unsaved; too large to be kept on this device";
    return editor.keptAt === null ? "Unsaved changes" : "Unsaved; kept on this device";
  }
  return editor.isNew ? "Not saved yet" : `Revision ${editor.base.number}`;
}

function offer(editor: Editor): TemplateResult | typeof nothing {
  const draft = editor.offered;
  if (!draft) return nothing;
  const changed = countChangedTurns(draft.document, editor.base.document);
  const what = changed === 0 ? "not in its turns" : `in ${plural(changed, "turn")}`;
  return html`<div class="notice offer" role="region" aria-label="Unsaved draft">
    ${icon("history")}
    <div>
      <p><strong>There is an unsaved draft on this device</strong>, from ${when(draft.keptAt)}. It differs ${what}.</p>
      <p class="button-row">
        <button class="button button--small" type="button" @click=${() => editor.takeDraft()}>Take it back</button>
        <button class="button button--small button--quiet" type="button" @click=${() => editor.dropDraft()}>Throw it away</button>
      </p>
    </div>
  </div>`;
}

function when(milliseconds: number): TemplateResult {
  const iso = new Date(milliseconds).toISOString();
  return html`<time datetime=${iso} title=${moment(milliseconds)}>${ago(milliseconds, Date.now())}</time>`;
}

// ---- conversation -------------------------------------------------------------------------------

function conversation(
  editor: Editor,
  byTurn: ReadonlyMap<Uid, readonly AnyProblem[]>,
): TemplateResult {
  const { turns } = editor;
  if (turns.length === 0) return empty(editor);
  const lanes = lanesOf(turns);
  return html`<div class="turns">
    ${
      editor.readOnly
        ? nothing
        : html`<div class="turns__top"><button class="insert" type="button" tabindex="-1" aria-label="Add a turn at the beginning" title="Add a turn here" @click=${() => addTurn(editor, 0)}>${icon("plus")}</button></div>`
    }
    ${repeat(
      turns,
      (turn) => turn.uid,
      (turn, index) => {
        const isSelected = turn.uid === editor.selected;
        const isActive = !editor.readOnly && (isSelected || turn.uid === editor.hovered);
        const problems = byTurn.get(turn.uid) ?? [];
        const calls = hasResult(turn) ? callsBefore(turns, index) : [];
        const open = openCalls(editor, turn, index);
        const marks = marksOf(editor, turn, problems);
        const lane = lanes[index] ?? { head: [], blocks: new Map(), gap: [], key: "" };
        const dependencies = [
          turn,
          index,
          isSelected,
          isActive,
          index === turns.length - 1,
          problems.map((each) => `${each.block} ${each.field} ${each.message}`).join("\n"),
          marks.map((each) => `${each.block} ${each.formats} ${each.message}`).join("\n"),
          lane.key,
          calls.map((each) => `${each.block.id} ${each.block.name}`).join("\n"),
          [...open].join(" "),
          foldsOf(editor, turn),
        ];
        return guard(dependencies, () =>
          turnView({
            editor,
            turn,
            index,
            isSelected,
            isActive,
            problems,
            marks,
            lanes: lane,
            calls,
            open,
          }),
        );
      },
    )}
    ${
      editor.readOnly
        ? nothing
        : html`<div class="turns__end">
            <button class="button button--quiet" type="button" @click=${() => addTurn(editor, turns.length)}>${icon("plus")}Add a turn</button>
          </div>`
    }
  </div>`;
}

/** What providers would refuse of a turn, beside what is wrong in it for everybody. */
function marksOf(editor: Editor, turn: Turn, problems: readonly AnyProblem[]): readonly Mark[] {
  const lookedAt = editor.tab === "payload" ? editor.format : null;
  const wrong = new Set(problems.map((each) => each.block));
  return editor.lens.marks(turn.uid, lookedAt, (block) => wrong.has(block));
}

function hasResult(turn: Turn): boolean {
  return turn.blocks.some((block) => block.type === "tool_result");
}

const NONE: ReadonlySet<Uid> = new Set();

function openCalls(editor: Editor, turn: Turn, index: number): ReadonlySet<Uid> {
  const calls = turn.blocks.filter((block) => block.type === "tool_call");
  if (calls.length === 0) return NONE;
  const answered = new Set(resultsAfter(editor.turns, index).map((each) => each.tool_call_id));
  return new Set(calls.filter((call) => !answered.has(call.id)).map((call) => call.uid));
}

/** Which of a turn's folds and details are open, as something to compare. */
function foldsOf(editor: Editor, turn: Turn): string {
  const open = (uid: Uid): boolean => editor.unfolded.has(uid) || editor.detailed.has(uid);
  const inner = turn.blocks.flatMap((block) =>
    block.type === "tool_result" ? [block.uid, ...block.blocks.map((held) => held.uid)] : block.uid,
  );
  return [turn.uid, ...inner]
    .filter(open)
    .map((uid) => `${uid}${editor.unfolded.has(uid)}${editor.detailed.has(uid)}`)
    .join(" ");
}

function empty(editor: Editor): TemplateResult {
  return html`<div class="empty">
    <h2>No turns yet</h2>
    <p>A task is a conversation that a model is asked to go on with. Begin with what the user says, or with a system turn that sets the scene.</p>
    ${
      editor.readOnly
        ? nothing
        : html`<div class="button-row">
            <button class="button" type="button" @click=${() => addTurn(editor, 0, "user")}>${icon("plus")}User turn</button>
            <button class="button" type="button" @click=${() => addTurn(editor, 0, "system")}>${icon("plus")}System turn</button>
            <span class="faint">or press <kbd class="kbd">a</kbd></span>
          </div>`
    }
  </div>`;
}
