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

/** What a module has as its default export: views, or a function that makes them of what the host has. */
export interface Source {
  readonly path: string;
  readonly content: readonly VirtualWorkspace[] | HostFunction;
}

/** What a function of a module is given: a store for objects of its own, and the workspaces that it is over. */
export type ViewHost = Host & Workspaces;

type HostFunction = (host: ViewHost) => unknown;

/** Whether a file of this name in a served folder is looked into. */
export function isModule(file: string): boolean {
  return MODULE.test(file) && !NO_VIEW.test(file);
}

/** Whether a module wants the host. */
export function isHosted({ content }: Source): boolean {
  return typeof content === "function";
}

/**
 * Imports files and folders: a file must have a default export that is a view, a list of views, or a function of the
 * host that returns one of these; in a folder every module that has one counts.
 *
 * @throws Failure when one has none, or cannot be loaded
 */
export async function importSources(paths: readonly string[]): Promise<Source[]> {
  const found = await Promise.all(
    paths.map((path) => (statSync(path).isDirectory() ? fromFolder(path) : fromFile(path))),
  );
  return found.flat();
}

/**
 * The views of all modules. Functions are called, one after the other; each may take `patience` ms, since connections wait
 * meanwhile where the store is handed over.
 *
 * @throws Failure when one returns something else, throws what is no error, or takes longer, and what one throws
 */
export async function viewsOf(
  sources: readonly Source[],
  host: ViewHost | undefined,
  patience = 30_000,
): Promise<VirtualWorkspace[]> {
  const views: VirtualWorkspace[] = [];
  for (const { path, content } of sources) {
    if (typeof content !== "function") views.push(...content);
    else if (host !== undefined) views.push(...made(path, await called({ path, content }, host, patience)));
  }
  return views;
}

interface Called {
  readonly path: string;
  readonly content: HostFunction;
}

async function called({ path, content }: Called, host: ViewHost, patience: number): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const why = `${path}: its default export is a function that has not returned within ${patience / 1000} s. See what it awaits.`;
  const timer = setTimeout(() => late.reject(new Failure(why)), patience);
  try {
    return await Promise.race([content(host), late.promise]);
  } catch (error) {
    if (error instanceof Error) throw error; // its stack says where
    throw new Failure(`${path}: its default export threw ${inspect(error)}. Throw an Error, which says where.`);
  } finally {
    clearTimeout(timer);
  }
}

function made(path: string, returned: unknown): readonly VirtualWorkspace[] {
  const views = asViews(returned);
  if (views === undefined)
    throw new Failure(`${path}: its default export is a function that returned ${noView(returned)}. ${REMEDY}`);
  return views;
}

async function fromFile(path: string): Promise<readonly Source[]> {
  const found = await exportOf(path);
  const content = contentOf(found);
  if (content === undefined) throw new Failure(`${path}: its default export is ${noView(found)}. ${REMEDY}`);
  return [{ path, content }];
}

async function fromFolder(folder: string): Promise<readonly Source[]> {
  const paths = readdirSync(folder).filter(isModule).sort();
  const loaded = await Promise.all(
    paths.map(async (name) => ({ path: join(folder, name), content: contentOf(await exportOf(join(folder, name))) })),
  );
  const sources = loaded.flatMap(({ path, content }) => (content === undefined ? [] : [{ path, content }]));
  if (sources.length === 0) throw new Failure(`${folder}: no module in it has a view as its default export. ${REMEDY}`);
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

/** A class cannot be called, and is none of our business in a folder. */
function isClass(found: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(found));
}

function asViews(value: unknown): readonly VirtualWorkspace[] | undefined {
  if (isView(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isView) ? value : undefined;
}

/** What something is that is no view, for messages. */
function noView(value: unknown): string {
  const { name, path, authorize } = (value ?? {}) as Partial<Record<keyof VirtualWorkspace, unknown>>;
  const isAlmost = typeof name === "string" && typeof path === "string" && authorize === undefined;
  return isAlmost ? "no view: it decides nothing about access, and has to have authorize" : "no view";
}

/** By its form: the module may have its own copy of the framework. */
function isView(value: unknown): value is VirtualWorkspace {
  if (typeof value !== "object" || value === null) return false;
  const { name, path, authorize } = value as Partial<Record<keyof VirtualWorkspace, unknown>>;
  return typeof name === "string" && typeof path === "string" && typeof authorize === "function";
}

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
