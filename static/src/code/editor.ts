import { autocompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--role-user)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--role-assistant)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--role-system)" },
  { tag: tags.comment, color: "var(--ink-faint)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--ink-soft)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "var(--text-mono)", fontVariantLigatures: "none", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "12px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    backgroundColor: "transparent",
    color: "var(--ink-faint)",
    border: "0",
    paddingLeft: "4px",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
  },
});

const LANGUAGES: Record<string, () => Extension> = { json, yaml };

export interface CodeOptions {
  language: "json" | "yaml";
  label: string;
  extensions?: Extension[];
  onChange?: (text: string) => void;
}

/** A CodeMirror view in the product's colours. `label` is what assistive technology calls it. */
export function codeView(parent: HTMLElement, text: string, options: CodeOptions): EditorView {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
  const language = LANGUAGES[options.language];
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ "aria-label": options.label }),
        EditorView.lineWrapping,
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        autocompletion(),
        search({ top: true }),
        lintGutter(),
        syntaxHighlighting(colours),
        look,
        language ? language() : [],
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange?.(update.state.doc.toString());
        }),
        options.extensions ?? [],
      ],
    }),
  });
}

/** Show problems beside their lines (1-based); lines outside the text go to its end. */
export function showProblems(
  view: EditorView,
  problems: { line: number; message: string; severity: "error" | "warning" }[],
): void {
  const { doc } = view.state;
  const diagnostics: Diagnostic[] = problems.map(({ line, message, severity }) => {
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return { from: at.from, to: at.to, message, severity };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** Turns a `<textarea>` into an editor; the textarea stays the field that is sent. */
export function codeEditor(element: HTMLElement): void {
  const area = element.querySelector("textarea");
  if (!area) return;
  const host = document.createElement("div");
  host.className = "code-editor__view";
  area.after(host);
  const view = codeView(host, area.value, {
    language: element.dataset.language === "json" ? "json" : "yaml",
    label: element.dataset.label ?? "Text",
    onChange: (text) => {
      area.value = text;
      area.dispatchEvent(new Event("input", { bubbles: true }));
    },
  });
  const wasFocused = document.activeElement === area;
  area.hidden = true;
  if (wasFocused) view.focus();
  const mark = () => {
    const lines = [...document.querySelectorAll<HTMLElement>("[data-problem-line]")];
    showProblems(
      view,
      lines.map((line) => ({
        line: Number(line.dataset.problemLine),
        message: line.dataset.problem ?? line.textContent ?? "",
        severity: line.dataset.severity === "warning" ? "warning" : "error",
      })),
    );
  };
  mark();
  document.addEventListener("htmx:afterSwap", mark);
}
