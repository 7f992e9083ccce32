import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import { hookModules, importSources, isHosted, type Source, type ViewHost, viewsOf } from "./load.ts";

/** Files of views, imported and not yet asked for them. */
export class ViewFiles {
  readonly #sources: readonly Source[];

  private constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /** Imports files and folders, which run with the rights of this process. @throws Failure naming the file and what is wrong */
  static async import(paths: readonly string[]): Promise<ViewFiles> {
    if (paths.length > 0) hookModules(() => undefined);
    const sources: Source[] = [];
    for (const path of paths) sources.push(...(await orFailNaming(path, () => importSources([path]))));
    return new ViewFiles(sources);
  }

  /** Whether one of them wants to be given something. */
  get hosted(): boolean {
    return this.#sources.some(isHosted);
  }

  /**
   * Their views. Functions are called.
   *
   * @param taken names that the server's own views have
   * @throws Failure naming the file and what is wrong
   */
  views(host: ViewHost | undefined, taken: readonly string[] = []): Promise<VirtualWorkspace[]> {
    return namedViews(this.#sources, host, taken);
  }

  /** The views of functions, which are called with something else. @throws Failure as {@link views} */
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
    const views = await orFailNaming(path, () => viewsOf([source], host));
    for (const view of views) {
      checkPlace(path, view);
      const other = by.get(view.name);
      if (other !== undefined)
        throw new Failure(`--view ${path}: the name ${view.name} is taken by ${other}: give the view another`);
      by.set(view.name, path);
      all.push(view);
    }
  }
  return all;
}

function checkPlace(path: string, { name, prefix }: VirtualWorkspace): void {
  if (prefix === undefined) return;
  throw new Failure(
    `--view ${path}: the view ${name} wants to be at ${prefix}, where the server's own may be: leave out its prefix, and it is at /services/${name}`,
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

/** Absolute paths of what is there. @throws UsageError */
export function viewPaths(paths: readonly string[]): readonly string[] {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`--view ${missing}: there is no such file in ${process.cwd()}`);
  return paths.map((path) => resolve(path));
}

/** All of them; one that is named as one of kcp's takes its place, as one with other options does. */
export function besides(
  own: readonly VirtualWorkspace[],
  loaded: readonly VirtualWorkspace[],
): readonly VirtualWorkspace[] {
  const names = new Set(loaded.map(({ name }) => name));
  return [...own.filter(({ name }) => !names.has(name)), ...loaded];
}
