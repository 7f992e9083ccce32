import { readdirSync, statSync } from "node:fs";
import module from "node:module";
import { join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import type { Workspaces } from "@virtual-workspaces/forwarding";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Host } from "@virtual-workspaces/store";
import { Failure } from "../process/failure.ts";

const MODULE = /\.[cm]?[jt]s$/;
const NO_VIEW = /\.(d|test|spec|test-d)\.[cm]?[jt]s$/;

/** Default export of a module: views, or a function that creates them from the host. */
export interface Source {
  readonly path: string;
  readonly content: readonly VirtualWorkspace[] | HostFunction;
}

/** Argument of a module's function: a store for its own objects, and the workspaces that it serves. */
export type ViewHost = Host & Workspaces;

type HostFunction = (host: ViewHost) => unknown;

/** Returns whether a file name in a served folder is that of a module. */
export function isModule(file: string): boolean {
  return MODULE.test(file) && !NO_VIEW.test(file);
}

/** Returns whether a module needs the host. */
export function isHosted({ content }: Source): boolean {
  return typeof content === "function";
}

/**
 * Imports files and folders. A file needs a default export: a view, a list of views, or a function of the host that returns
 * either. In a folder, modules without such an export are ignored.
 *
 * @throws Failure when a file has none, a folder has no such module, or an import fails
 */
export async function importSources(paths: readonly string[]): Promise<Source[]> {
  const found = await Promise.all(
    paths.map((path) => (statSync(path).isDirectory() ? fromFolder(path) : fromFile(path))),
  );
  return found.flat();
}

/** Options of {@link viewsOf}. */
interface MakingOptions {
  /** Time limit for each function, ms: connections may be waiting for the handover of the store. @default 30_000 */
  readonly patience?: number;
  /** Users of names, by name. New views are added. @default none */
  readonly taken?: Map<string, string>;
}

/**
 * Returns the views of all modules, and calls their functions one after the other.
 *
 * @throws Failure when a function returns something else, throws a value that is not an Error, or takes longer, or when the
 * name of a view is taken; also errors of functions
 */
export async function viewsOf(
  sources: readonly Source[],
  host: ViewHost | undefined,
  { patience = 30_000, taken = new Map() }: MakingOptions = {},
): Promise<VirtualWorkspace[]> {
  const views: VirtualWorkspace[] = [];
  for (const { path, content } of sources) {
    const own =
      typeof content !== "function" ? content : host && made(path, await called({ path, content }, host, patience));
    for (const view of own ?? []) {
      const other = taken.get(view.name);
      if (other !== undefined)
        throw new Failure(`${path}: the name ${view.name} is already used by ${other}: use another name for the view`);
      taken.set(view.name, path);
      views.push(view);
    }
  }
  return views;
}

interface Called {
  readonly path: string;
  readonly content: HostFunction;
}

async function called({ path, content }: Called, host: ViewHost, patience: number): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const why = `${path}: the function in its default export has not returned within ${patience / 1000} s. Check what it awaits.`;
  const timer = setTimeout(() => late.reject(new Failure(why)), patience);
  try {
    return await Promise.race([content(host), late.promise]);
  } catch (error) {
    if (error instanceof Error) throw error; // its stack names the place
    throw new Failure(
      `${path}: its default export threw ${inspect(error)}. Throw an Error, whose stack names the place.`,
    );
  } finally {
    clearTimeout(timer);
  }
}

function made(path: string, returned: unknown): readonly VirtualWorkspace[] {
  const views = asViews(returned);
  if (views === undefined)
    throw new Failure(
      `${path}: the function in its default export did not return a view${whyNot(returned)}. ${REMEDY}`,
    );
  return views;
}

async function fromFile(path: string): Promise<readonly Source[]> {
  const found = await exportOf(path);
  const content = contentOf(found);
  if (content === undefined) throw new Failure(`${path}: its default export is not a view${whyNot(found)}. ${REMEDY}`);
  return [{ path, content }];
}

async function fromFolder(folder: string): Promise<readonly Source[]> {
  const paths = readdirSync(folder).filter(isModule).sort();
  const loaded = await Promise.all(
    paths.map(async (name) => ({ path: join(folder, name), content: contentOf(await exportOf(join(folder, name))) })),
  );
  const sources = loaded.flatMap(({ path, content }) => (content === undefined ? [] : [{ path, content }]));
  if (sources.length === 0) throw new Failure(`${folder} has no module whose default export is a view. ${REMEDY}`);
  return sources;
}

const REMEDY =
  "Write `export default defineVirtualWorkspace({ … })`, or export a list of them, or a function (host) that returns either.";

async function exportOf(path: string): Promise<unknown> {
  return ((await import(pathToFileURL(path).href)) as { readonly default?: unknown }).default;
}

function contentOf(found: unknown): Source["content"] | undefined {
  return typeof found === "function" && !isClass(found) ? (found as HostFunction) : asViews(found);
}

/** A class cannot be called as a function, and may be in a folder for other reasons. */
function isClass(found: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(found));
}

function asViews(value: unknown): readonly VirtualWorkspace[] | undefined {
  if (isView(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isView) ? value : undefined;
}

/** Returns the reason why a value is not a view, if it is almost one. */
function whyNot(value: unknown): string {
  const { name, path, authorize } = (value ?? {}) as Partial<Record<keyof VirtualWorkspace, unknown>>;
  const isAlmost = typeof name === "string" && typeof path === "string" && authorize === undefined;
  return isAlmost ? ": it has no authorize, which decides about access" : "";
}

/** Checks properties instead of the class: the module may have its own copy of the framework. */
function isView(value: unknown): value is VirtualWorkspace {
  if (typeof value !== "object" || value === null) return false;
  const { name, path, authorize } = value as Partial<Record<keyof VirtualWorkspace, unknown>>;
  return typeof name === "string" && typeof path === "string" && typeof authorize === "function";
}

const INSTALLED = `${sep}node_modules${sep}`;
/** Prefix of this project's packages. */
export const OUR_PACKAGES = "@virtual-workspaces/";

/**
 * Reports each file that is loaded from now on, once, except installed packages, which do not change. A file that does not
 * find this project's packages uses those of this program, so that a view needs no project.
 */
export function hookModules(tell: (file: string) => void): void {
  const seen = new Set<string>();
  module.registerHooks({
    resolve: (specifier, context, nextResolve) => {
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        const isMissing = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
        if (!isMissing || !specifier.startsWith(OUR_PACKAGES)) throw error;
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
