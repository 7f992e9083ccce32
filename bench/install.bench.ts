// Packages and megabytes of an installation from a registry, and the CPU that the import of each entry takes
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Registry } from "../test/_support/registry.ts";
import { localNode } from "../tools/install.mjs";
import { type Figure, figure, report } from "./_harness/report.ts";
import { median } from "./_harness/statistics.ts";
import { tempFolder } from "./_harness/temp-folder.ts";

const isShort = process.argv.includes("--short");
const RUNS = isShort ? 1 : 3;
/** Prints the CPU time of an import, ms, in a process that has imported nothing else. */
const IMPORT = `
const before = process.cpuUsage();
await import(process.argv[1]);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);`;

interface Goals {
  readonly packages: number;
  /** MB */
  readonly size: number;
}

/** What one of `npm install` brings. */
function weigh(folder: string, what: string, goals: Goals): Figure[] {
  const lock = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as {
    readonly packages: object;
  };
  const files = globSync("node_modules/**", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return [
    figure({ what: `packages of ${what}`, value: Object.keys(lock.packages).length, unit: "", below: goals.packages }),
    figure({ what: `size of ${what}`, value: bytes / 1e6, unit: "MB", below: goals.size }),
  ];
}

function entriesOf(folder: string): string[] {
  const scope = join(folder, "node_modules/@virtual-workspaces");
  return readdirSync(scope).flatMap((name) => {
    const { exports, peerDependencies = {} } = JSON.parse(readFileSync(join(scope, name, "package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, unknown>>;
      readonly peerDependencies?: Readonly<Record<string, string>>;
    };
    return Object.keys(exports)
      .filter(
        (path) => !Object.keys(peerDependencies).some((peer) => path === `./${peer.replace(/^@kubernetes\//, "")}`),
      )
      .map((path) => `@virtual-workspaces/${name}${path.slice(1)}`);
  });
}

function importTime(folder: string, entry: string): number {
  const args = ["--input-type=module", "--eval", IMPORT, "--", entry];
  const times = Array.from({ length: RUNS }, () => Number(execFileSync(localNode, args, { cwd: folder })));
  assert.ok(
    times.every((time) => time > 0),
    `${entry} was not imported`,
  );
  return median(times);
}

await using registry = await Registry.start();
await registry.publishAll();
const framework = tempFolder();
const all = tempFolder();

function install(folder: string, name: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  execFileSync("npm", ["install", name], { cwd: folder, env: { ...process.env, ...registry.env } });
}

install(framework, "@virtual-workspaces/framework");
const figures = weigh(framework, "the framework", { packages: 70, size: 30 });
if (!isShort) {
  install(all, "virtual-workspaces");
  figures.push(...weigh(all, "virtual-workspaces", { packages: 200, size: 100 }));
}
const folder = isShort ? framework : all;
for (const entry of entriesOf(folder))
  figures.push(figure({ what: `CPU of the import of ${entry}`, value: importTime(folder, entry), unit: "ms" }));
report("install", figures);
