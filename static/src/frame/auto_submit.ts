/** A form of filters that is sent as soon as a choice changes; its button is for the keyboard. */
export function autoSubmit(element: HTMLElement): void {
  element.addEventListener("change", (event) => {
    if (event.target instanceof HTMLSelectElement) (element as HTMLFormElement).requestSubmit();
  });
}
