/** Between the server's canonical JSON text and the editor's model, without changing a byte inside. */

import { compactJson, type JsonNode, jsonFault, member, parseJson, prettyJson } from "./json.ts";
import { type Block, type Conversation, type JsonText, newUid, ROLES, type Turn } from "./model.ts";

/** A revision's content: the conversation and what belongs to it. */
export interface Content {
  readonly turns: Conversation;
  readonly attributes: JsonText;
  readonly tags: readonly string[];
  /** Members of the content that the editor does not show, as they came, in order. */
  readonly others: readonly (readonly [key: string, value: JsonText])[];
}

export const EMPTY: Content = { turns: [], attributes: "{}", tags: [], others: [] };

const SHOWN = new Set(["messages", "attributes", "tags"]);

/** Read canonical JSON text; throws for anything that the server would not send. */
export function readContent(text: JsonText): Content {
  const node = parseJson(text);
  if (node.kind !== "object") throw new TypeError("The content of a task is an object.");
  const source = new Source(text);
  const attributes = member(node, "attributes");
  return {
    turns: items(member(node, "messages")).map((each) => source.turn(each)),
    attributes: attributes ? source.laidOut(attributes) : "{}",
    tags: items(member(node, "tags")).map((each) => source.text(each)),
    others: node.entries
      .filter((entry) => !SHOWN.has(entry.key))
      .map((entry) => [entry.key, source.raw(entry.value)] as const),
  };
}

/** Write JSON text for the server. What a person typed as JSON must be JSON by now. */
export function writeContent(content: Content): JsonText {
  return object([
    ["messages", list(content.turns.map(writeTurn))],
    ["attributes", content.attributes],
    ["tags", JSON.stringify(content.tags)],
    ...content.others,
  ]);
}

export function writeTurn(turn: Turn): JsonText {
  return object([
    ["role", JSON.stringify(turn.role)],
    ["blocks", list(turn.blocks.map(writeBlock))],
    ...detailOf(turn.detail),
  ]);
}

export function writeBlock(block: Block): JsonText {
  return object([
    ["type", JSON.stringify(block.type)],
    ...fields(block),
    ...detailOf(block.detail),
  ]);
}

/** A turn as a text to compare by: white space inside JSON does not count, everything else does. */
export function fingerprint(turn: Turn): string {
  const known = fingerprints.get(turn);
  if (known !== undefined) return known;
  const made = writeTurn({ ...turn, blocks: turn.blocks.map(compacted) });
  fingerprints.set(turn, made);
  return made;
}

const fingerprints = new WeakMap<Turn, string>();

function compacted(block: Block): Block {
  if (block.type === "tool_call" && jsonFault(block.input) === null) {
    return { ...block, input: compactJson(block.input) };
  }
  return block;
}

type Members = readonly (readonly [key: string, value: JsonText])[];

function fields(block: Block): Members {
  switch (block.type) {
    case "text":
      return [["text", JSON.stringify(block.text)]];
    case "image":
      return [
        ["data", JSON.stringify(block.data)],
        ["mimeType", JSON.stringify(block.mimeType)],
      ];
    case "reasoning": {
      const text = ["text", JSON.stringify(block.text)] as const;
      if (block.signature === null) return [text];
      return [text, ["signature", JSON.stringify(block.signature)]];
    }
    case "tool_call":
      return [
        ["id", JSON.stringify(block.id)],
        ["name", JSON.stringify(block.name)],
        ["input", block.input],
      ];
    case "tool_result":
      return [
        ["tool_call_id", JSON.stringify(block.tool_call_id)],
        ["blocks", list(block.blocks.map(writeBlock))],
        ["is_error", JSON.stringify(block.is_error)],
      ];
  }
}

function detailOf(detail: JsonText | null): Members {
  return detail === null ? [] : [["detail", detail]];
}

function object(members: Members): JsonText {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

function list(values: readonly JsonText[]): JsonText {
  return `[${values.join(",")}]`;
}

function items(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === "array" ? node.items : [];
}

class Source {
  constructor(readonly written: string) {}

  raw(node: JsonNode): JsonText {
    return this.written.slice(node.start, node.end);
  }

  /** JSON that a person may write: the same, but for the white space that makes it readable. */
  laidOut(node: JsonNode): JsonText {
    return prettyJson(this.raw(node));
  }

  text(node: JsonNode | undefined): string {
    return node?.kind === "string" ? node.value : "";
  }

  detail(node: JsonNode): JsonText | null {
    const detail = member(node, "detail");
    return detail === undefined || detail.kind === "null" ? null : this.laidOut(detail);
  }

  turn(node: JsonNode): Turn {
    const role = ROLES.find((each) => each === this.text(member(node, "role")));
    return {
      uid: newUid(),
      role: role ?? this.unknown("role", member(node, "role")),
      blocks: items(member(node, "blocks")).map((each) => this.block(each)),
      detail: this.detail(node),
    };
  }

  block(node: JsonNode): Block {
    const uid = newUid();
    const detail = this.detail(node);
    const field = (key: string): string => this.text(member(node, key));
    const type = field("type");
    switch (type) {
      case "text":
        return { uid, type, text: field("text"), detail };
      case "image":
        return { uid, type, data: field("data"), mimeType: field("mimeType"), detail };
      case "reasoning": {
        const signature = member(node, "signature");
        const sealed = signature?.kind === "string" ? signature.value : null;
        return { uid, type, text: field("text"), signature: sealed, detail };
      }
      case "tool_call": {
        const input = member(node, "input");
        const written = input ? this.laidOut(input) : "{}";
        return { uid, type, id: field("id"), name: field("name"), input: written, detail };
      }
      case "tool_result": {
        const blocks = items(member(node, "blocks")).map((each) => this.block(each));
        const is_error = member(node, "is_error")?.kind === "true";
        return { uid, type, tool_call_id: field("tool_call_id"), blocks, is_error, detail };
      }
      default:
        return this.unknown("block type", member(node, "type"));
    }
  }

  private unknown(what: string, node: JsonNode | undefined): never {
    throw new TypeError(
      `This editor does not know the ${what} ${node ? this.raw(node) : "(none)"}.`,
    );
  }
}
