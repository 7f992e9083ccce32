// Why: a tarball cannot be taken back. One without its license, with tests, with source maps or docstrings that lead nowhere is found here, in
// what `npm pack` would write.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./run.mjs";
import { deadPages } from "./see-links.mjs";

const REQUIRED = ["LICENSE", "README.md", "package.json"];
/** What may be packed besides them. */
const BUILT = /^dist\/.+\.(js|d\.ts|js\.map)$/;
/** The page of the console. */
const PAGE = /^dist\/app\/(index\.html|licenses\.md|assets\/[\w.-]+\.(css|js|svg|woff2))$/;
/** Files of the projects that create-virtual-workspace writes: no output of running them. */
const TEMPLATE =
  /^templates\/[a-z-]+\/(Dockerfile|README\.md|(package|tsconfig)\.json|_(git|docker)ignore|\w+\.yaml|(src|test)\/[\w.]+\.ts)$/;
const TESTS = /(^|\/)(test|tests|fixtures?)\/|\.(test|fixture|snapshot)\./;

/** @param {string} file a source map @returns {boolean} whether it holds its sources */
function holdsSources(file) {
  const { sources = [], sourcesContent = [] } = JSON.parse(readFileSync(file, "utf8"));
  return sources.length > 0 && sources.length === sourcesContent.filter((/** @type {unknown} */ text) => text).length;
}

/** @param {string} folder @param {ReadonlySet<string>} files @param {string} file @returns {string[]} */
function problemsOf(folder, files, file) {
  if (REQUIRED.includes(file) || TEMPLATE.test(file) || PAGE.test(file)) return [];
  if (!BUILT.test(file) || TESTS.test(file)) return ['is no built file: correct "files" in package.json'];
  const path = join(folder, file);
  if (file.endsWith(".map"))
    return holdsSources(path) ? [] : ["has no sources: set inlineSources in tsconfig.package.json"];
  const text = readFileSync(path, "utf8");
  const dead = file.endsWith(".d.ts") ? deadPages(text) : [];
  if (dead.length > 0) return dead.map((page) => `refers to ${page}, which is not packed: use a line \`@see ${page}\``);
  const [, map] = /^\/\/# sourceMappingURL=(.+)$/m.exec(text) ?? [];
  return map === undefined || files.has(join(dirname(file), map)) ? [] : [`leads to ${map}, which is not packed`];
}

/** The files of each package below `root` that must not be published, and those that it lacks. @param {string} root @returns {Promise<string[]>} */
export async function checkContents(root) {
  const flags = ["--workspaces", "--ignore-scripts", "--dry-run", "--json", "--loglevel=error"];
  const { ok, output } = await run("npm", ["pack", ...flags], { cwd: root });
  if (!ok) return [output];
  const folders = new Map(
    globSync("packages/{*,plugins/*}/package.json", { cwd: root }).map((file) => [
      JSON.parse(readFileSync(join(root, file), "utf8")).name,
      join(root, dirname(file)),
    ]),
  );
  const packed = Object.values(JSON.parse(output));
  return packed.flatMap(({ name, files }) => {
    const paths = new Set(files.map((/** @type {{ path: string }} */ { path }) => path));
    const lacks = [...REQUIRED, "dist/"].filter((file) => ![...paths].some((path) => path.startsWith(file)));
    const problems = [...paths].flatMap((file) =>
      problemsOf(folders.get(name) ?? "", paths, file).map((problem) => `${name}: ${file} ${problem}`),
    );
    return [...lacks.map((file) => `${name} lacks ${file}: add it`), ...problems];
  });
}
