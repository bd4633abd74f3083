/** `Ctrl+K`: a dialog of places to go to; the list is the server's, the filter is here. */
export function palette(element: HTMLElement): void {
  const dialog = element as HTMLDialogElement;
  const field = dialog.querySelector<HTMLInputElement>("input");
  const nothing = dialog.querySelector<HTMLElement>("[data-nothing]");
  if (!field) return;
  const options = [...dialog.querySelectorAll<HTMLElement>("[role=option]")];
  const shown = () => options.filter((option) => !option.hidden);
  let chosen = 0;

  const mark = () => {
    const list = shown();
    chosen = Math.min(Math.max(chosen, 0), Math.max(list.length - 1, 0));
    for (const option of options) {
      option.setAttribute("aria-selected", String(option === list[chosen]));
    }
    list[chosen]?.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", list[chosen]?.id ?? "");
    if (nothing) nothing.hidden = list.length > 0;
  };
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const option of options) {
      const text = (option.textContent ?? "").toLowerCase();
      option.hidden = !words.every((word) => text.includes(word));
    }
    chosen = 0;
    mark();
  };
  const open = () => {
    if (dialog.open) return;
    field.value = "";
    filter();
    dialog.showModal();
    field.focus();
  };

  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") chosen += 1;
    else if (event.key === "ArrowUp") chosen -= 1;
    else if (event.key === "Enter") {
      const address = shown()[chosen]?.dataset.address;
      if (address) location.assign(address);
    } else return;
    event.preventDefault();
    mark();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    const option = (event.target as HTMLElement).closest<HTMLElement>("[role=option]");
    if (option?.dataset.address) location.assign(option.dataset.address);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  for (const button of document.querySelectorAll("[data-opens-palette]")) {
    button.addEventListener("click", open);
  }
}
