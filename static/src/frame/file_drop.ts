import { toast } from "./toasts.ts";
import { isTyping } from "./typing.ts";

const UNITS = ["bytes", "KB", "MB", "GB"];

/** A number of bytes as people say it. */
export function size(bytes: number): string {
  let shown = bytes;
  let unit = 0;
  while (shown >= 1000 && unit < UNITS.length - 1) {
    shown /= 1000;
    unit += 1;
  }
  return `${unit === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${UNITS[unit]}`;
}

/**
 * A form that takes a file by choice, by drop anywhere on the page, or by paste; or a pasted text.
 * While it is sent it tells how far it is.
 */
export function fileDrop(element: HTMLElement): void {
  const form = element as HTMLFormElement;
  const input = form.querySelector<HTMLInputElement>("input[type=file]");
  const text = form.querySelector<HTMLTextAreaElement>("textarea");
  if (!input || !text) return;
  const here = new AbortController();
  const listen = <K extends keyof DocumentEventMap>(
    kind: K,
    heard: (event: DocumentEventMap[K]) => void,
  ) =>
    document.addEventListener(kind, (event) => (form.isConnected ? heard(event) : here.abort()), {
      signal: here.signal,
    });

  const take = (files: FileList | undefined) => {
    if (!files?.length) return;
    if (files.length > 1) toast("One file at a time: zip several together.", "danger", "drop");
    const held = new DataTransfer();
    held.items.add(files[0] as File);
    input.files = held.files;
    show(form, input);
    form.querySelector<HTMLButtonElement>("button[type=submit]")?.focus();
  };
  listen("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    form.classList.add("is-dropping");
  });
  listen("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("is-dropping");
  });
  listen("drop", (event) => {
    form.classList.remove("is-dropping");
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  listen("paste", (event) => {
    if (event.clipboardData?.files.length) {
      event.preventDefault();
      take(event.clipboardData.files);
      return;
    }
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted && !isTyping(event)) {
      text.value = pasted;
      text.focus();
      event.preventDefault();
    }
  });
  input.addEventListener("change", () => show(form, input));
  form.querySelector("[data-drop-clear]")?.addEventListener("click", () => {
    input.value = "";
    show(form, input);
    input.focus();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("htmx:xhr:progress", (event) => {
    const { loaded, total } = (event as CustomEvent<{ loaded: number; total: number }>).detail;
    if (total) showSent(form, loaded / total);
  });
  show(form, input);
}

/** Say in the drop zone which file is held. */
function show(form: HTMLFormElement, input: HTMLInputElement): void {
  const file = input.files?.[0];
  const name = form.querySelector<HTMLElement>("[data-drop-name]");
  const details = form.querySelector<HTMLElement>("[data-drop-size]");
  const clear = form.querySelector<HTMLElement>("[data-drop-clear]");
  if (!name || !details || !clear) return;
  name.dataset.empty ??= name.textContent ?? "";
  details.dataset.empty ??= details.textContent ?? "";
  name.textContent = file ? file.name : name.dataset.empty;
  details.textContent = file ? size(file.size) : details.dataset.empty;
  clear.hidden = !file;
}

function showSent(form: HTMLFormElement, share: number): void {
  const upload = form.querySelector<HTMLElement>("[data-upload]");
  const meter = upload?.querySelector("progress");
  const words = upload?.querySelector<HTMLElement>("[data-upload-words]");
  if (!upload || !meter || !words) return;
  upload.hidden = false;
  meter.value = share;
  words.textContent = share < 1 ? `Sending, ${Math.floor(share * 100)} %` : "Reading it";
}
