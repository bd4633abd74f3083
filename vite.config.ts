import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { icons as lucide } from "@iconify-json/lucide";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const ROOT = import.meta.dirname;
const KEPT_MS = 3_600_000;
const WRITTEN_IN = ["templates", "static/src"];
const NAMED = /\{%\s*icon "([a-z0-9-]+)"|\bicon\("([a-z0-9-]+)"\)/g;

function sources(): string[] {
  const names = WRITTEN_IN.flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" }).map(
      (name) => `${ROOT}/${folder}/${name}`,
    ),
  );
  return names.filter((name) => /\.(html|ts)$/.test(name) && !name.endsWith(".test.ts"));
}

/** One SVG sprite of exactly the icons that templates and modules name. */
function iconSprite(): Plugin {
  return {
    name: "icon-sprite",
    generateBundle() {
      const names = new Set<string>();
      for (const file of sources()) {
        for (const [, tag, call] of readFileSync(file, "utf8").matchAll(NAMED)) {
          names.add(tag ?? call ?? "");
        }
      }
      const symbols = [...names].sort().map((name) => {
        const parent = lucide.aliases?.[name]?.parent ?? name;
        const drawing = lucide.icons[parent];
        if (!drawing) this.error(`There is no icon "${name}" in the Lucide set.`);
        return `<symbol id="${name}" viewBox="0 0 24 24">${drawing.body}</symbol>`;
      });
      const source = `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>`;
      this.emitFile({ type: "asset", fileName: "icons.svg", source });
      const version = createHash("sha256").update(source).digest("hex").slice(0, 12);
      this.emitFile({ type: "asset", fileName: "icons.version", source: version });
    },
  };
}

/** A server that is running names the files of an earlier build: they stay for an hour. */
function sweepOldBuilds(): Plugin {
  return {
    name: "sweep-old-builds",
    writeBundle(options) {
      const folder = `${options.dir}/assets`;
      for (const name of readdirSync(folder)) {
        const age = Date.now() - statSync(`${folder}/${name}`).mtimeMs;
        if (age > KEPT_MS) rmSync(`${folder}/${name}`);
      }
    },
  };
}

export default defineConfig({
  root: ROOT,
  base: "./",
  publicDir: "static/public",
  plugins: [iconSprite(), sweepOldBuilds()],
  build: {
    outDir: "static/dist",
    emptyOutDir: false,
    manifest: "manifest.json",
    target: "es2023",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: "static/src/main.ts", checks: { eval: false } },
  },
  test: { environment: "happy-dom", include: ["static/src/**/*.test.ts"] },
});
