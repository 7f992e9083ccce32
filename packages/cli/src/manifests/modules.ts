import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Failure, problemOf } from "../process/failure.ts";
import { hookModules, OUR_PACKAGES } from "../views/load.ts";

/** Named exports of a module that are printed. */
interface Exported {
  readonly manifests?: unknown;
  readonly permissions?: unknown;
}

/**
 * Imports a module: a file, or a package resolved from the working directory; this project's own packages also from this
 * program. Security: it runs with the rights of this process.
 *
 * @throws Failure naming the module and the problem
 */
export async function imported(name: string): Promise<Exported> {
  hookModules(() => undefined);
  const place = moduleUrl(name);
  try {
    return (await import(place)) as Exported;
  } catch (error) {
    throw new Failure(`cannot load ${name}: ${problemOf(error)}`, { cause: error });
  }
}

function moduleUrl(name: string): string {
  if (existsSync(name)) return pathToFileURL(resolve(name)).href;
  const isOurs = name.startsWith(OUR_PACKAGES);
  for (const from of [join(process.cwd(), "package.json"), ...(isOurs ? [import.meta.url] : [])]) {
    try {
      return pathToFileURL(createRequire(from).resolve(name)).href;
    } catch {} // it is not there
  }
  throw new Failure(`${name} is neither a file nor a package in ${process.cwd()}`);
}
