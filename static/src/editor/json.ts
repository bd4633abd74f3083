/**
 * JSON that survives exactly: every node remembers the text it was read from.
 *
 * `JSON.parse` turns 1.0 into 1, rounds big integers and keeps only the last of two equal keys; what
 * a person did not touch must come back byte for byte, so values stay text here and are only looked
 * at through their nodes.
 */

export type JsonNode =
  | { kind: "object"; start: number; end: number; entries: readonly JsonEntry[] }
  | { kind: "array"; start: number; end: number; items: readonly JsonNode[] }
  | { kind: "string"; start: number; end: number; value: string }
  | { kind: "number" | "true" | "false" | "null"; start: number; end: number };

export interface JsonEntry {
  key: string;
  /** The key as written, quotes and escapes included. */
  written: string;
  value: JsonNode;
}

export type JsonKind = JsonNode["kind"];

/** Levels of nesting that the server stores. */
const DEEPEST = 200;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const WORDS = ["true", "false", "null"] as const;

/** A text that is not JSON: what is wrong, and where (`offset` counts UTF-16 units from 0). */
export class JsonFault extends Error {
  readonly offset: number;
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    const before = text.slice(0, offset).split("\n");
    this.offset = offset;
    this.line = before.length;
    this.column = (before.at(-1)?.length ?? 0) + 1;
  }

  get sentence(): string {
    return `Line ${this.line}, column ${this.column}: ${this.message}.`;
  }
}

/** Read one JSON value; throws `JsonFault`. Two equal keys in one object are a fault. */
export function parseJson(text: string): JsonNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.space();
  if (reader.at < text.length) throw reader.fault("nothing may follow the value");
  return node;
}

/** The fault of a text that should be a JSON value (of the kind given), or null. */
export function jsonFault(text: string, kind?: JsonKind): JsonFault | null {
  try {
    const node = parseJson(text);
    if (kind === undefined || node.kind === kind) return null;
    const wanted = kind === "object" ? "an object like {}" : `a value of the kind ${kind}`;
    return new JsonFault(`must be ${wanted}`, text, node.start);
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
}

/** The same value without white space between its parts; numbers and strings stay as written. */
export function compactJson(text: string): string {
  return inOneLine(parseJson(text), text, ",", ":");
}

/** Characters that an object or a list may have to stay on one line. */
const LINE = 56;

/** The same value laid out to be read; numbers and strings stay as written. */
export function prettyJson(text: string): string {
  return laidOut(parseJson(text), text, "");
}

/** `prettyJson`, or the text itself while it is not JSON. */
export function prettyIfJson(text: string): string {
  return jsonFault(text) === null ? prettyJson(text) : text;
}

/** Whether two texts hold the same value, looking at nothing but white space. */
export function sameJson(one: string, other: string): boolean {
  if (one === other) return true;
  if (jsonFault(one) !== null || jsonFault(other) !== null) return false;
  return compactJson(one) === compactJson(other);
}

export function member(node: JsonNode, key: string): JsonNode | undefined {
  if (node.kind !== "object") return undefined;
  return node.entries.find((entry) => entry.key === key)?.value;
}

function inOneLine(node: JsonNode, text: string, comma: string, colon: string): string {
  const inner = (value: JsonNode): string => inOneLine(value, text, comma, colon);
  switch (node.kind) {
    case "object":
      return `{${node.entries.map((each) => each.written + colon + inner(each.value)).join(comma)}}`;
    case "array":
      return `[${node.items.map(inner).join(comma)}]`;
    default:
      return text.slice(node.start, node.end);
  }
}

function laidOut(node: JsonNode, text: string, indent: string): string {
  if (node.kind !== "object" && node.kind !== "array") return text.slice(node.start, node.end);
  const line = inOneLine(node, text, ", ", ": ");
  if (line.length <= LINE) return line;
  const deeper = `${indent}  `;
  const parts =
    node.kind === "object"
      ? node.entries.map((each) => `${each.written}: ${laidOut(each.value, text, deeper)}`)
      : node.items.map((each) => laidOut(each, text, deeper));
  const [open, close] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
  return `${open}\n${deeper}${parts.join(`,\n${deeper}`)}\n${indent}${close}`;
}

class Reader {
  at = 0;

  constructor(readonly text: string) {}

  fault(message: string, offset = this.at): JsonFault {
    return new JsonFault(message, this.text, offset);
  }

  space(): void {
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }

  value(depth: number): JsonNode {
    this.space();
    const sign = this.text[this.at];
    if (sign === undefined) throw this.fault("a value is missing");
    if (sign === "{" || sign === "[") {
      if (depth >= DEEPEST) throw this.fault(`nested more than ${DEEPEST} levels deep`);
      return sign === "{" ? this.object(depth) : this.array(depth);
    }
    if (sign === '"') return this.string();
    return this.plain();
  }

  private object(depth: number): JsonNode {
    const start = this.at;
    const entries: JsonEntry[] = [];
    const seen = new Set<string>();
    this.at += 1;
    this.space();
    while (this.text[this.at] !== "}") {
      if (entries.length > 0) this.comma("}");
      if (this.text[this.at] !== '"')
        throw this.fault('a key in double quotes like "name" is missing');
      const keyAt = this.at;
      const key = this.string().value;
      if (seen.has(key)) throw this.fault(`the key ${JSON.stringify(key)} stands twice`, keyAt);
      seen.add(key);
      const written = this.text.slice(keyAt, this.at);
      this.space();
      if (this.text[this.at] !== ":") throw this.fault("a colon is missing after the key");
      this.at += 1;
      entries.push({ key, written, value: this.value(depth + 1) });
      this.space();
    }
    this.at += 1;
    return { kind: "object", start, end: this.at, entries };
  }

  private array(depth: number): JsonNode {
    const start = this.at;
    const items: JsonNode[] = [];
    this.at += 1;
    this.space();
    while (this.text[this.at] !== "]") {
      if (items.length > 0) this.comma("]");
      items.push(this.value(depth + 1));
      this.space();
    }
    this.at += 1;
    return { kind: "array", start, end: this.at, items };
  }

  private comma(close: string): void {
    if (this.text[this.at] === undefined) throw this.fault(`the closing ${close} is missing`);
    if (this.text[this.at] !== ",") throw this.fault(`a comma or ${close} is missing`);
    this.at += 1;
    this.space();
    if (this.text[this.at] === close) throw this.fault("a comma may not stand before the end");
  }

  private string(): { kind: "string"; start: number; end: number; value: string } {
    const start = this.at;
    let end = start + 1;
    // Looking for the next quote and backslash by name is what keeps megabytes of base64 quick.
    for (;;) {
      const quote = this.text.indexOf('"', end);
      if (quote < 0) throw this.fault("the closing quote is missing", start);
      const escaped = this.text.slice(end, quote).indexOf("\\");
      if (escaped < 0) {
        end = quote + 1;
        break;
      }
      end += escaped + 2;
    }
    try {
      const value = JSON.parse(this.text.slice(start, end)) as string;
      this.at = end;
      return { kind: "string", start, end, value };
    } catch {
      throw this.fault("the text in quotes holds a line break, a tab or a wrong escape", start);
    }
  }

  private plain(): JsonNode {
    const start = this.at;
    for (const kind of WORDS) {
      if (this.text.startsWith(kind, start)) {
        this.at += kind.length;
        return { kind, start, end: this.at };
      }
    }
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.text)) throw this.fault("a value is missing");
    this.at = NUMBER.lastIndex;
    return { kind: "number", start, end: this.at };
  }
}
