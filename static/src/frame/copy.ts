import { toast } from "./toasts.ts";

/** Copies the text of the element that `data-copy` selects; says so on the button itself. */
export function copyButton(element: HTMLElement): void {
  const label = element.querySelector<HTMLElement>("[data-label]") ?? element;
  const words = label.textContent;
  element.addEventListener("click", async () => {
    const source = document.querySelector<HTMLElement>(element.dataset.copy ?? "");
    const text = source instanceof HTMLInputElement ? source.value : (source?.textContent ?? "");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      toast("The browser did not allow copying. Select the text and copy it by hand.", "danger");
      return;
    }
    label.textContent = "Copied";
    setTimeout(() => {
      label.textContent = words;
    }, 2000);
  });
}
