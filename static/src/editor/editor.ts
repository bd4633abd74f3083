/** What the task editor is doing: its document, its undo line, what is selected, saved, at odds. */

import { type Status, sameDocument, sizeOf, type TaskDocument } from "./document.ts";
import type { Draft, Drafts } from "./draft.ts";
import { Lens, notServedWords } from "./lens.ts";
import {
  type Choices,
  type Conflict,
  isClean,
  type Merge,
  merge,
  NO_CHOICES,
  resolve,
} from "./merge.ts";
import { type Conversation, findBlock, indexOfTurn, type Turn, type Uid } from "./model.ts";
import type { Target } from "./place.ts";
import { sentenceFrom } from "./placing.ts";
import { type AnyProblem, isUnsendable, liveProblems, Remarks } from "./remarks.ts";
import * as server from "./server.ts";
import type { Surroundings } from "./surroundings.ts";
import { begin, pause, record, redo, type Timeline, undo } from "./timeline.ts";
import { readContent } from "./wire.ts";

export type Tab = "turns" | "task" | "problems" | "payload" | "history";

interface Base {
  readonly number: number;
  readonly document: TaskDocument;
}

const KEEP_AFTER = 400;
const PREVIEW_AFTER = 600;
/** Characters of a conversation (pictures!) up to which the server checks along while one types. */
const CHECKED_ALONG = 1_000_000;

export class Editor {
  line: Timeline<TaskDocument>;
  base: Base;
  selected: Uid | null = null;
  /** The turn under the pointer: it shows its tools, as the selected one does. */
  hovered: Uid | null = null;
  tab: Tab = "task";
  /** On a narrow screen: whether the panel lies over the conversation. */
  panelOpen = false;
  format: string;
  payload: server.Payload | null = null;
  saving = false;
  message = "";
  conflict: Conflict | null = null;
  offered: Draft | null;
  /** Milliseconds since 1970, or null; false if the device had no room. */
  keptAt: number | null | false = null;
  readonly unfolded = new Set<Uid>();
  /** Blocks and turns whose `detail` is being edited. */
  readonly detailed = new Set<Uid>();
  readonly lens = new Lens();
  private readonly remarks = new Remarks();
  private drafts: Drafts;
  /** What the page around calls the task. */
  private title: string;

  constructor(
    public handed: server.Handed,
    private readonly around: Surroundings,
  ) {
    const document = server.documentOf(handed.document);
    this.title = document.key;
    this.line = begin(document);
    this.base = { number: handed.document.number, document };
    this.format = handed.formats[0] ?? "";
    this.selected = document.turns[0]?.uid ?? null;
    this.drafts = around.drafts(handed.person, handed.save);
    const draft = handed.may_edit ? this.drafts.read() : null;
    this.offered = draft && !sameDocument(draft.document, document) ? draft : null;
  }

  get document(): TaskDocument {
    return this.line.present;
  }

  get turns(): Conversation {
    return this.line.present.turns;
  }

  get isNew(): boolean {
    return this.base.number === 0;
  }

  get isDirty(): boolean {
    return !sameDocument(this.document, this.base.document);
  }

  get readOnly(): boolean {
    return !this.handed.may_edit;
  }

  // ---- changing -------------------------------------------------------------------------------

  change(label: string, at: Uid | null, value: TaskDocument, field: string | null = null): void {
    if (this.readOnly || value === this.document) return;
    this.line = record(this.line, { value, label, at, field, now: this.around.now() });
    this.changed();
  }

  changeTurns(label: string, at: Uid | null, turns: Conversation, field?: string): void {
    if (turns !== this.turns) this.change(label, at, { ...this.document, turns }, field);
  }

  undo(): void {
    this.step(this.line.past?.step, undo(this.line), "Undone");
  }

  redo(): void {
    this.step(this.line.future?.step, redo(this.line), "Redone");
  }

  private step(
    step: { label: string; at: Uid | null } | undefined,
    line: Timeline<TaskDocument>,
    word: string,
  ): void {
    if (!step || this.conflict) return;
    this.line = line;
    this.changed();
    this.around.announce(`${word}: ${step.label.toLowerCase()}.`, "ok");
    if (step.at !== null) this.reveal(this.targetOfUid(step.at));
  }

  endTyping(): void {
    this.line = pause(this.line);
  }

  private changed(): void {
    if (this.selected !== null && indexOfTurn(this.turns, this.selected) < 0) this.selected = null;
    this.around.later("keep", KEEP_AFTER, () => this.keep());
    this.around.later("preview", PREVIEW_AFTER, () => void this.preview());
    this.around.draw();
  }

  // ---- selecting ------------------------------------------------------------------------------

  select(turn: Uid | null): void {
    if (turn === this.selected) return;
    this.selected = turn;
    this.around.draw();
  }

  hover(turn: Uid | null): void {
    if (turn === this.hovered) return;
    this.hovered = turn;
    this.around.draw();
  }

  /** The turn `steps` away from the selected one. */
  neighbour(steps: number): Turn | null {
    const index = this.selected === null ? -1 : indexOfTurn(this.turns, this.selected);
    const wanted = index < 0 ? (steps > 0 ? 0 : this.turns.length - 1) : index + steps;
    return this.turns[Math.max(0, Math.min(wanted, this.turns.length - 1))] ?? null;
  }

  reveal(target: Target): void {
    if (target.turn !== null) {
      this.selected = target.turn;
      if (target.block !== null) this.unfolded.add(target.block);
      if (target.field === "detail") this.detailed.add(target.block ?? target.turn);
      this.panelOpen = false;
    } else if (target.field !== null && target.field !== "messages") {
      this.tab = "task";
      this.panelOpen = true;
    }
    this.around.draw(target);
  }

  private targetOfUid(uid: Uid): Target {
    if (indexOfTurn(this.turns, uid) >= 0) return { turn: uid, block: null, field: null };
    const found = findBlock(this.turns, uid);
    return { turn: found?.turn.uid ?? null, block: found ? uid : null, field: null };
  }

  show(tab: Tab): void {
    this.tab = tab;
    if (tab === "payload") void this.preview();
    this.around.draw();
  }

  // ---- problems -------------------------------------------------------------------------------

  get problems(): readonly AnyProblem[] {
    return this.remarks.besides(liveProblems(this.document), this.document);
  }

  /** JSON that cannot be sent because it is none yet. */
  private unsendable(): AnyProblem | null {
    return liveProblems(this.document).find(isUnsendable) ?? null;
  }

  async preview(): Promise<void> {
    const document = this.document;
    const shows = this.tab === "payload";
    if (!shows && sizeOf(document) > CHECKED_ALONG) return;
    if (this.unsendable()) {
      this.payload = { place: "", message: "Some JSON is not complete yet." };
      this.around.draw();
      return;
    }
    const formats = shows ? [this.format] : [];
    const answer = await server.preview(this.handed.preview, document, formats);
    if (document !== this.document) return; // Somebody typed meanwhile: another answer will come.
    this.remarks.clear();
    if (answer.kind === "refused") {
      this.payload = { place: answer.place, message: answer.message };
      if (answer.place) this.remarks.add({ ...answer, severity: "error" }, document);
    } else {
      for (const each of answer.problems) this.remarks.add(each, document);
      this.lens.take(answer.lens, answer.tokens, document);
      if (shows) this.payload = answer.payloads[this.format] ?? null;
    }
    this.around.draw();
  }

  showFormat(format: string): void {
    this.format = format;
    this.payload = null;
    void this.preview();
    this.around.draw();
  }

  // ---- keeping and saving ---------------------------------------------------------------------

  keep(): void {
    if (!this.isDirty) {
      this.drafts.forget();
      this.keptAt = null;
    } else {
      const was = { number: this.base.number, ...factsOf(this.base.document) };
      this.keptAt = this.drafts.keep(this.document, was) && this.around.now();
    }
    this.around.draw();
  }

  takeDraft(): void {
    const draft = this.offered;
    if (!draft) return;
    this.offered = null;
    if (draft.base.number !== this.base.number) {
      // Saving will be refused and merged: the draft began at an older revision than this page.
      const document = { ...this.base.document, ...factsOf(draft.base) };
      this.base = { number: draft.base.number, document };
    }
    this.change("Take back the unsaved draft", null, draft.document);
    this.drafts.forget(draft);
    this.keep();
  }

  dropDraft(): void {
    if (this.offered) this.drafts.forget(this.offered);
    this.offered = null;
    this.around.draw();
  }

  async save(): Promise<void> {
    if (this.saving || this.readOnly || this.conflict) return;
    this.around.unsay("save");
    const fault = this.unsendable();
    if (fault) {
      this.notSaved(fault, fault.message);
      return;
    }
    if (!this.isNew && !this.isDirty) {
      this.around.announce("Nothing has changed since the last save.", "ok", "save");
      return;
    }
    this.saving = true;
    this.endTyping();
    this.around.draw();
    const sent = this.document;
    const answer = await server.save(this.handed.save, this.base.number, sent, this.message);
    this.saving = false;
    if (answer.kind === "saved") this.saved(sent, answer);
    else if (answer.kind === "stale") await this.stale(answer);
    else {
      this.remarks.clear();
      const target = this.remarks.add({ ...answer, severity: "error" }, this.document);
      this.notSaved(target, answer.message);
    }
  }

  private notSaved(target: Target, message: string): void {
    const sentence = sentenceFrom(target, message, this.turns);
    this.around.announce(`Not saved. ${sentence}`, "danger", "save");
    this.reveal(target);
  }

  private saved(sent: TaskDocument, answer: server.Saved): void {
    const { key, split, status, tags } = answer;
    const document = { ...sent, key, split, status, tags };
    const same = answer.number === this.base.number;
    this.base = { number: answer.number, document };
    if (this.document === sent) this.line = { ...this.line, present: document };
    this.message = "";
    if (answer.addresses) this.moveTo(answer.addresses);
    if (key !== this.title) this.around.renamed(key, answer.addresses?.page);
    this.title = key;
    this.keep();
    const words = same ? "Saved." : `Saved as revision ${answer.number}.`;
    this.around.announce(`${words}${notServedWords(answer.unserved)}`, "ok", "save");
    void this.preview();
  }

  private moveTo(addresses: NonNullable<server.Saved["addresses"]>): void {
    this.drafts.forget();
    this.handed = { ...this.handed, save: addresses.save, history: addresses.history };
    this.drafts = this.around.drafts(this.handed.person, this.handed.save);
  }

  // ---- when somebody else was faster ----------------------------------------------------------

  private async stale(answer: server.Stale): Promise<void> {
    const { current } = answer;
    const theirs = server.documentOf(current);
    const was = { ...readContent(answer.base.content), ...factsOf(this.base.document) };
    const merged = merge(was, this.document, theirs);
    const { number, author } = current;
    if (!isClean(merged)) {
      const message = current.message;
      this.conflict = { merged, theirs, number, author, message, choices: NO_CHOICES };
      this.around.draw({ turn: null, block: null, field: "conflict" });
      return;
    }
    await this.saveMerged(merged, NO_CHOICES, { theirs, number, author });
  }

  choose(choices: Choices): void {
    if (!this.conflict) return;
    this.conflict = { ...this.conflict, choices };
    this.around.draw();
  }

  async saveChosen(): Promise<void> {
    if (!this.conflict) return;
    const { merged, choices, ...side } = this.conflict;
    if (resolve(merged, choices) === null) {
      const words = "Choose for every turn that both of you changed.";
      this.around.announce(words, "danger", "save");
      return;
    }
    this.conflict = null;
    this.around.unsay("save");
    await this.saveMerged(merged, choices, side);
  }

  /** Go on writing; the next save will ask again. */
  closeConflict(): void {
    this.conflict = null;
    this.around.draw();
  }

  private async saveMerged(
    merged: Merge,
    choices: Choices,
    side: { theirs: TaskDocument; number: number; author: string },
  ): Promise<void> {
    const document = resolve(merged, choices);
    if (!document) return;
    this.base = { number: side.number, document: side.theirs };
    const label = `Merge with revision ${side.number} by ${side.author}`;
    this.change(label, null, document);
    const turns = merged.taken === 1 ? "1 turn" : `${merged.taken} turns`;
    const words = `Merged ${turns} of revision ${side.number} by ${side.author}.`;
    this.around.announce(words, "ok", "merge");
    if (this.isDirty) await this.save();
    else this.keep();
  }

  fold(uid: Uid, folded: boolean): void {
    if (folded) this.unfolded.delete(uid);
    else this.unfolded.add(uid);
    this.around.draw();
  }

  openDetail(uid: Uid): void {
    this.reveal({ ...this.targetOfUid(uid), field: "detail" });
  }

  closeDetail(uid: Uid): void {
    this.detailed.delete(uid);
    this.around.draw();
  }

  togglePanel(open = !this.panelOpen): void {
    this.panelOpen = open;
    this.around.draw();
  }

  setMessage(message: string): void {
    this.message = message;
    this.around.draw();
  }

  say(text: string, tone: "ok" | "danger"): void {
    this.around.announce(text, tone);
  }
}

function factsOf<F extends { key: string; split: string; status: Status }>(facts: F) {
  return { key: facts.key, split: facts.split, status: facts.status };
}
