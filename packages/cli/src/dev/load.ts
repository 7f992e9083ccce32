import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { Failure } from "../usage.ts";

const MODULE = /\.[cm]?[jt]s$/;
const NO_VIEW = /\.(d|test|spec|test-d)\.[cm]?[jt]s$/;

/** Whether a file of this name in a served folder is looked into. */
export function isModule(file: string): boolean {
  return MODULE.test(file) && !NO_VIEW.test(file);
}

/**
 * The views that files and folders hold: a file must have a default export that is a view or a list of views, in a
 * folder every module that has one counts.
 *
 * @throws Failure when one has none, or cannot be loaded
 */
export async function loadViews(paths: readonly string[]): Promise<VirtualWorkspace[]> {
  const loaded = await Promise.all(
    paths.map((path) => (statSync(path).isDirectory() ? fromFolder(path) : fromFile(path))),
  );
  return loaded.flat();
}

async function fromFile(path: string): Promise<readonly VirtualWorkspace[]> {
  const views = await viewsOf(path);
  if (views === undefined) throw new Failure(`${path}: its default export is no view. ${REMEDY}`);
  return views;
}

async function fromFolder(folder: string): Promise<readonly VirtualWorkspace[]> {
  const files = readdirSync(folder).filter(isModule).sort();
  const loaded = await Promise.all(files.map((file) => viewsOf(join(folder, file))));
  const views = loaded.flatMap((found) => found ?? []);
  if (views.length === 0) throw new Failure(`${folder}: no module in it has a view as its default export. ${REMEDY}`);
  return views;
}

const REMEDY = "Write `export default defineVirtualWorkspace({ … })`, or export a list of them.";

async function viewsOf(path: string): Promise<readonly VirtualWorkspace[] | undefined> {
  const { default: found } = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  if (isView(found)) return [found];
  return Array.isArray(found) && found.length > 0 && found.every(isView) ? found : undefined;
}

/** By its form: the module may have its own copy of the framework. */
function isView(value: unknown): value is VirtualWorkspace {
  if (typeof value !== "object" || value === null) return false;
  const { name, path, authorize } = value as Partial<Record<keyof VirtualWorkspace, unknown>>;
  return typeof name === "string" && typeof path === "string" && typeof authorize === "function";
}
