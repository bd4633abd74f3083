/** A search leaves out what was not chosen, so that the address says only what matters. */
export function tidyAddresses(): void {
  document.addEventListener("htmx:configRequest", (event) => {
    const { verb, formData } = (event as CustomEvent<{ verb: string; formData: FormData }>).detail;
    if (verb !== "get") return;
    const empty = [...formData.entries()].filter(([, value]) => value === "");
    for (const [name] of empty) formData.delete(name);
  });
}
