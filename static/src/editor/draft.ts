/**
 * What was typed and not saved, kept on this device until it is: a closed tab loses nothing.
 *
 * A draft is the editor's document as it is, broken JSON included, beside the revision it began at.
 */

import type { Status, TaskDocument } from "./document.ts";
import { type Block, newUid, type Turn } from "./model.ts";

export interface DraftBase {
  readonly number: number;
  readonly key: string;
  readonly split: string;
  readonly status: Status;
}

export interface Draft {
  readonly document: TaskDocument;
  /** The revision that the editing began at, and what the task was called and where it was then. */
  readonly base: DraftBase;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
  /** The window that wrote it: another window's save must not throw it away. */
  readonly owner: string;
}

export class Drafts {
  /** Not `randomUUID`: a server in the house next door is reached without https. */
  readonly owner: string = crypto.getRandomValues(new Uint32Array(3)).join("-");
  private readonly name: string;
  /** Whether the place is known to hold this window's draft or nothing. */
  private isMine = false;

  constructor(
    person: string,
    address: string,
    private readonly store: Pick<Storage, "getItem" | "setItem" | "removeItem"> = deviceStore(),
  ) {
    this.name = `turnwright draft of ${person} at ${address}`;
  }

  /**
   * Whether it could be kept: a device has room for some megabytes only. A draft of another window
   * moves aside and is offered until somebody decides about it.
   */
  keep(document: TaskDocument, base: DraftBase): boolean {
    const draft: Draft = { document, base, keptAt: Date.now(), owner: this.owner };
    try {
      if (!this.isMine) this.moveAside();
      this.store.setItem(this.name, JSON.stringify(draft));
      return true;
    } catch {
      return false;
    }
  }

  /** The last draft that was kept and neither saved nor taken back. */
  read(): Draft | null {
    return this.readAt(this.name) ?? this.readAt(this.earlier);
  }

  /** Forget this window's draft, and `draft` if it was taken back or is not wanted. */
  forget(draft?: Draft): void {
    for (const name of [this.name, this.earlier]) {
      const owner = this.readAt(name)?.owner;
      if (owner === this.owner || (owner !== undefined && owner === draft?.owner)) {
        this.store.removeItem(name);
      }
    }
  }

  private moveAside(): void {
    const there = this.readAt(this.name);
    if (there && there.owner !== this.owner) {
      this.store.setItem(this.earlier, JSON.stringify(there));
    }
    this.isMine = true;
  }

  private get earlier(): string {
    return `${this.name} (earlier)`;
  }

  private readAt(name: string): Draft | null {
    try {
      const draft = JSON.parse(this.store.getItem(name) ?? "null") as Draft | null;
      if (!draft || typeof draft.base.number !== "number") return null;
      const turns = draft.document.turns.map(named);
      return { ...draft, document: { ...draft.document, turns } };
    } catch {
      return null; // Written by another version, or by somebody else: not ours to offer.
    }
  }
}

/** What the device keeps for this site; a store with no room where the person forbids it. */
function deviceStore(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  try {
    return localStorage;
  } catch {
    const setItem = (): never => {
      throw new Error("Nothing may be kept on this device.");
    };
    return { getItem: () => null, setItem, removeItem: () => undefined };
  }
}

/** The uids of another window mean nothing here. */
function named(turn: Turn): Turn {
  return { ...turn, uid: newUid(), blocks: turn.blocks.map(namedBlock) };
}

function namedBlock(block: Block): Block {
  const uid = newUid();
  if (block.type !== "tool_result") return { ...block, uid };
  return { ...block, uid, blocks: block.blocks.map(namedBlock) };
}
