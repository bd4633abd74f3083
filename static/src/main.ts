import "./styles/index.css";
import htmx from "htmx.org";
import { bind } from "./behaviours.ts";
import { listenForGoKeys } from "./frame/go_keys.ts";
import { registerMorph } from "./frame/morph.ts";
import { tidyAddresses } from "./frame/tidy_addresses.ts";
import { listenForProblems } from "./frame/toasts.ts";

registerMorph(htmx);
listenForProblems();
listenForGoKeys();
tidyAddresses();

// The page's own elements at load, and whatever a swap brings later.
bind(document);
document.addEventListener("htmx:load", (event) => bind(event.target as ParentNode));
