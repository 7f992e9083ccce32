// Builds the programs of a Go module once for all processes of a run. The runner of a suite builds before its processes
// start, and sets GO_BUILT; a single file builds what it needs. A rebuild without changes is quick.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { run } from "../../../tools/run.mjs";

// Uses exactly the versions of go.mod and go.sum with the installed compiler, and downloads nothing else.
const ENV = { GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" };
const home = join(import.meta.dirname, "..");
const builds = new Map<string, Promise<void>>();

/** Hook for `before`: builds all programs of test/go/<module>. Takes minutes with empty Go caches. */
export function building(module: string): (this: Mocha.Context) => Promise<void> {
  return async function () {
    if (process.env["GO_BUILT"]?.split(",").includes(module)) return;
    this.timeout(600_000);
    const building = builds.get(module) ?? build(module);
    builds.set(module, building);
    await building;
  };
}

/** Builds the programs of every module, one after the other, because Go uses all processors for each. @returns the modules */
export async function buildAll(): Promise<readonly string[]> {
  const modules = globSync("*/go.mod", { cwd: home }).map((file) => basename(dirname(file)));
  for (const module of modules.sort()) await build(module);
  return modules;
}

/** Builds the programs of test/go/<module>, for programs that are no tests. */
export async function build(module: string): Promise<void> {
  const cwd = join(home, module);
  const args = ["build", `-ldflags=-s -w ${versionStamp(cwd)}`, "-o", "dist/", "./..."];
  const { ok, output } = await run("go", args, { cwd, env: ENV });
  if (output.includes("ENOENT"))
    throw new Error("Go is not on the PATH: install Go 1.26.3 or newer, https://go.dev/doc/install");
  if (!ok) throw new Error(`go ${args.join(" ")} in test/go/${module}: ${output}`);
}

/** Returns the version stamp of Kubernetes' own builds, without which `kubectl version` fails. Libraries v0.N are release v1.N. */
function versionStamp(folder: string): string {
  const release = /k8s\.io\/component-base v0\.(\S+)/.exec(readFileSync(join(folder, "go.mod"), "utf8"))?.[1];
  return release === undefined ? "" : `-X k8s.io/component-base/version.gitVersion=v1.${release}`;
}

/** Returns the path of a program built by {@link building}. */
export function goProgram(module: string, name: string): string {
  const file = join(home, module, "dist", name);
  if (!existsSync(file)) throw new Error(`${file} does not exist: call before(building("${module}"))`);
  return file;
}
