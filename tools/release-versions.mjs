// Why: all packages share one version, and depend on one another by it. So one place writes it: into each package.json, the ranges
// among them, and the lock file, which no installation has to write again.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const RANGES = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/** @param {string} file @returns {any} */
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
/** @param {string} file @param {unknown} content */
const write = (file, content) => writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);

/**
 * The packages below `root`, each after those that it depends on.
 *
 * @param {string} root @returns {{ file: string, manifest: any }[]}
 */
export function manifestsInOrder(root) {
  const files = globSync("packages/{*,plugins/*}/package.json", { cwd: root }).sort();
  const rest = new Map(files.map((file) => [file, read(join(root, file))]));
  const ordered = [];
  while (rest.size > 0) {
    const names = new Set([...rest.values()].map(({ name }) => name));
    const free = [...rest].find(
      ([, { dependencies = {} }]) => !Object.keys(dependencies).some((name) => names.has(name)),
    );
    if (free === undefined) throw new Error(`packages depend on each other in a circle: ${[...names].join(", ")}`);
    rest.delete(free[0]);
    ordered.push({ file: free[0], manifest: free[1] });
  }
  return ordered;
}

/** Sets the version in a manifest, or its copy in the lock file. @param {any} manifest @param {string} version @param {ReadonlySet<string>} own */
function setVersion(manifest, version, own) {
  manifest.version = version;
  for (const field of RANGES)
    for (const name of Object.keys(manifest[field] ?? {})) if (own.has(name)) manifest[field][name] = `^${version}`;
}

/** Writes a version into all packages, the repository's own package.json and the lock file. @param {string} root @param {string} version */
export function setVersions(root, version) {
  const packages = manifestsInOrder(root);
  const own = new Set(packages.map(({ manifest }) => manifest.name));
  for (const file of ["package.json", ...packages.map(({ file }) => file)]) {
    const manifest = read(join(root, file));
    setVersion(manifest, version, own);
    write(join(root, file), manifest);
  }
  const lockFile = join(root, "package-lock.json");
  const lock = read(lockFile);
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages))
    if (path === "" || path.startsWith("packages/"))
      if (!path.includes("node_modules/")) setVersion(entry, version, own);
  write(lockFile, lock);
}
