import module from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

const INSTALLED = `${sep}node_modules${sep}`;
/** The packages that come with this one. */
const OURS = "@virtual-workspaces/";

/**
 * Tells, once each, of the files that are loaded from now on, the installed ones left out: those do not change. A file
 * that finds none of our packages where it is gets those of this one, so that a view needs no project around it.
 */
export function hookModules(tell: (file: string) => void): void {
  const seen = new Set<string>();
  module.registerHooks({
    resolve: (specifier, context, nextResolve) => {
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        const isMissing = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
        if (!isMissing || !specifier.startsWith(OURS)) throw error;
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
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
