// Builds the programs of a Go module, once for all processes of a run: the runner of a whole suite builds before its
// processes start, and says so in GO_BUILT; a file that is run alone builds what it needs. Go does little when nothing has changed.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { run } from "../../../tools/run.mjs";

// As go.mod and go.sum say, with the compiler that is there: nothing is fetched that they do not name.
const ENV = { GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -buildvcs=false" };
const home = join(import.meta.dirname, "..");
const builds = new Map<string, Promise<void>>();

/** For `before`: builds all programs of test/go/<module>. Takes minutes where Go's caches are empty. */
export function building(module: string): (this: Mocha.Context) => Promise<void> {
  return async function () {
    if (process.env["GO_BUILT"]?.split(",").includes(module)) return;
    this.timeout(600_000);
    const building = builds.get(module) ?? build(module);
    builds.set(module, building);
    await building;
  };
}

/** Builds the programs of every module, one module after the other: Go uses all processors for each. @returns the modules */
export async function buildAll(): Promise<readonly string[]> {
  const modules = globSync("*/go.mod", { cwd: home }).map((file) => basename(dirname(file)));
  for (const module of modules.sort()) await build(module);
  return modules;
}

async function build(module: string): Promise<void> {
  const cwd = join(home, module);
  const args = ["build", `-ldflags=-s -w ${versionStamp(cwd)}`, "-o", "dist/", "./..."];
  const { ok, output } = await run("go", args, { cwd, env: ENV });
  if (output.includes("ENOENT"))
    throw new Error("Go is not on the PATH: install Go 1.26.3 or newer, https://go.dev/doc/install");
  if (!ok) throw new Error(`go ${args.join(" ")} in test/go/${module}: ${output}`);
}

/** What Kubernetes' own builds tell their programs: without it `kubectl version` fails. Libraries v0.N are release v1.N. */
function versionStamp(folder: string): string {
  const release = /k8s\.io\/component-base v0\.(\S+)/.exec(readFileSync(join(folder, "go.mod"), "utf8"))?.[1];
  return release === undefined ? "" : `-X k8s.io/component-base/version.gitVersion=v1.${release}`;
}

/** The path of a program that {@link building} has built. */
export function goProgram(module: string, name: string): string {
  const file = join(home, module, "dist", name);
  if (!existsSync(file)) throw new Error(`${file} is not there: call before(building("${module}"))`);
  return file;
}
