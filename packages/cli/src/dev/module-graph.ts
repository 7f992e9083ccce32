import module from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

const INSTALLED = `${sep}node_modules${sep}`;

/** Tells, once each, of the files that are loaded from now on, the installed ones left out: those do not change. */
export function onModule(tell: (file: string) => void): void {
  const seen = new Set<string>();
  module.registerHooks({
    load: (url, context, nextLoad) => {
      if (url.startsWith("file:")) {
        const file = fileURLToPath(url);
        if (!seen.has(file) && !file.includes(INSTALLED)) tell(file);
        seen.add(file);
      }
      return nextLoad(url, context);
    },
  });
}
