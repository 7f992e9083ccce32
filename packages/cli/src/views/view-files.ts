import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import { hookModules, importSources, isHosted, type Source, type ViewHost, viewsOf } from "./load.ts";

/** Files of views, imported but not created yet. */
export class ViewFiles {
  readonly #sources: readonly Source[];

  private constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /** Imports files and folders. Security: they run with the rights of this process. @throws Failure naming the file and the problem */
  static async import(paths: readonly string[]): Promise<ViewFiles> {
    if (paths.length > 0) hookModules(() => undefined);
    const sources: Source[] = [];
    for (const path of paths) sources.push(...(await orFailNaming(path, () => importSources([path]))));
    return new ViewFiles(sources);
  }

  /** Whether a file needs the host. */
  get hosted(): boolean {
    return this.#sources.some(isHosted);
  }

  /**
   * Creates the views, and calls functions.
   *
   * @param taken names of the server's own views
   * @throws Failure naming the file and the problem
   */
  views(host: ViewHost | undefined, taken: readonly string[] = []): Promise<VirtualWorkspace[]> {
    return namedViews(this.#sources, host, taken);
  }

  /** Creates the views of functions alone, with another host. @throws Failure as {@link views} */
  hostedViews(host: ViewHost, taken: readonly string[] = []): Promise<VirtualWorkspace[]> {
    return namedViews(this.#sources.filter(isHosted), host, taken);
  }
}

async function namedViews(
  sources: readonly Source[],
  host: ViewHost | undefined,
  taken: readonly string[],
): Promise<VirtualWorkspace[]> {
  const by = new Map(taken.map((name) => [name, "the server itself"]));
  const all: VirtualWorkspace[] = [];
  for (const source of sources) {
    const { path } = source;
    const views = await orFailNaming(path, () => viewsOf([source], host, { taken: by }));
    for (const view of views) checkPlace(path, view);
    all.push(...views);
  }
  return all;
}

function checkPlace(path: string, { name, prefix }: VirtualWorkspace): void {
  if (prefix === undefined) return;
  throw new Failure(
    `--view ${path}: the view ${name} has the prefix ${prefix}, which may belong to the server: remove the prefix to serve the view at /services/${name}`,
  );
}

async function orFailNaming<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure(`--view ${error instanceof Failure ? "" : `${path} cannot be loaded: `}${problemOf(error)}`, {
      cause: error,
    });
  }
}

/** Returns the absolute paths. @throws UsageError when a file does not exist */
export function viewPaths(paths: readonly string[]): readonly string[] {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`--view ${missing}: the file does not exist in ${process.cwd()}`);
  return paths.map((path) => resolve(path));
}

/** Returns all views. A view of a file replaces kcp's view of the same name. */
export function besides(
  own: readonly VirtualWorkspace[],
  loaded: readonly VirtualWorkspace[],
): readonly VirtualWorkspace[] {
  const names = new Set(loaded.map(({ name }) => name));
  return [...own.filter(({ name }) => !names.has(name)), ...loaded];
}
