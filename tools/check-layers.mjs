// Why: the layout only stays a layout while nothing imports upward, and neither the compiler nor npm minds: every
// workspace is hoisted into one node_modules. A package may import only packages on a strictly lower row, each of them
// listed in its dependencies; row 0 is pure and may not even import Node's own modules.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve, sep } from "node:path";
import { checkRooms } from "./check-rooms.mjs";
import { importsOf } from "./import-graph.mjs";

/** The rows, lowest first: the folders below packages/. */
const ROWS = [
  ["apimachinery"],
  ["transport"],
  ["framework", "client"],
  ["store", "forwarding"],
  ["kcp"],
  [
    "workspaces",
    "plugins/apiexport",
    "plugins/mounts",
    "plugins/lifecycle",
    "plugins/cluster-proxy",
    "plugins/query",
    "plugins/console",
    "plugins/spaces",
  ],
  ["front-proxy", "workspace-server"],
  ["testing"],
  ["cli"],
  ["create-virtual-workspace"],
];

/** @typedef {{ folder: string, row: number, name: string, dependencies: Set<string> }} Package */

/** @param {string} packages @returns {Package[]} */
function readPackages(packages) {
  const folders = readdirSync(packages).flatMap((folder) =>
    existsSync(join(packages, folder, "package.json"))
      ? [folder]
      : readdirSync(join(packages, folder)).map((inner) => `${folder}/${inner}`),
  );
  return folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8"));
    const { name, dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = manifest;
    return {
      folder,
      name,
      row: ROWS.findIndex((row) => row.includes(folder)),
      dependencies: new Set(Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })),
    };
  });
}

/** What one import of `from` breaks, or undefined. @param {Package} from @param {string} specifier @param {Package[]} all */
function faultOf(from, specifier, all) {
  if (isBuiltin(specifier)) return from.row === 0 ? `imports ${specifier}, and row 0 is pure` : undefined;
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const target = all.find((other) => other.name === name);
  if (target !== undefined && target.row >= from.row)
    return `(row ${from.row}) imports ${name} (row ${target.row}): only lower rows may be imported`;
  return from.dependencies.has(name) || name === from.name
    ? undefined
    : `imports ${name}, which its package.json does not list`;
}

/** The faults below `root`/packages, one line each. @param {string} root */
export function checkLayers(root) {
  const packages = join(root, "packages");
  const all = readPackages(packages);
  const faults = all
    .filter(({ row }) => row < 0)
    .map(({ folder }) => `packages/${folder} has no row: give it one in tools/check-layers.mjs`);
  for (const from of all) {
    const home = join(packages, from.folder);
    for (const file of globSync("src/**/*.ts", { cwd: home })) {
      for (const { specifier } of importsOf(readFileSync(join(home, file), "utf8"))) {
        const leaves = specifier.startsWith(".") && !resolve(home, file, "..", specifier).startsWith(home + sep);
        const fault = specifier.startsWith(".")
          ? leaves && `imports ${specifier}, a file of another package: import the package by name`
          : faultOf(from, specifier, all);
        if (fault) faults.push(`packages/${from.folder}/${file} ${fault}`);
      }
    }
  }
  return [...faults, ...checkRooms(all.map(({ folder }) => join(packages, folder)))];
}
