/** A dialog that opens as soon as it is on the page, and leaves the page when it is closed. */
export function modal(element: HTMLElement): void {
  const dialog = element as HTMLDialogElement;
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.showModal();
}
