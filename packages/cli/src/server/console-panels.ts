import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Panel } from "@virtual-workspaces/framework/panel";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import { hookModules } from "../views/load.ts";

const FLAG = "console-panel";
const REMEDY = "Export a panel by default, { name, title, for, module }, a list of panels, or a view with panels.";

/** Returns the paths of the modules that `--console-panel` names. @throws UsageError when a file does not exist */
export function panelModules(names: readonly string[] = []): readonly string[] {
  return names.map((name) => {
    const path = resolve(name);
    if (!existsSync(path))
      throw new UsageError(`--${FLAG} ${name}: the file does not exist in ${process.cwd()}: correct the path`);
    return path;
  });
}

/**
 * Imports the modules of `--console-panel`. Security: their code runs with the rights of this process, and that of their panels with the
 * rights of each user who opens them.
 *
 * @throws Failure that names the module
 */
export async function importPanels(paths: readonly string[]): Promise<readonly Panel[]> {
  if (paths.length > 0) hookModules(() => undefined);
  const panels = await Promise.all(
    paths.map(async (path) => {
      try {
        const { default: found } = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
        return [found].flat().flatMap(panelsOf);
      } catch (error) {
        throw new Failure(`--${FLAG} ${path}: ${problemOf(error)}`, { cause: error });
      }
    }),
  );
  return panels.flat();
}

/** Returns the panels of a view, or the panel itself. */
function panelsOf(value: unknown): readonly Panel[] {
  const { name, panels, module } = (value ?? {}) as Partial<VirtualWorkspace & Panel>;
  if (module !== undefined) return [value as Panel];
  if (name === undefined || panels === undefined || panels.length === 0)
    throw new Failure(`its default export has no panel. ${REMEDY}`);
  return panels.map((panel) => ({ ...panel, for: panel.for ?? { virtualWorkspace: name } }));
}
