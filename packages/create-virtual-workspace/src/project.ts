import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { TemplateName } from "./templates.ts";

/** Name of the project in the templates: those are complete projects, which the repository's own tests run. */
const NAME = "my-view";
/** Files of every project. */
const EVERY = "every";
/** `npm pack` leaves these files out below their own names. */
const RENAMED: Readonly<Record<string, string>> = { _gitignore: ".gitignore", _dockerignore: ".dockerignore" };
/** Files that a new project may find in its folder. */
const HARMLESS: ReadonlySet<string> = new Set([".git", ".gitignore", ".DS_Store", ".idea", ".vscode", "LICENSE"]);
/** Longest DNS label. */
const LONGEST = 63;

const folderOf = (name: string): string => fileURLToPath(new URL(`../templates/${name}`, import.meta.url));

/** Problem of the command line, with its remedy. */
export class ProjectError extends Error {}

/** Options of {@link createProject}. */
export interface ProjectOptions {
  /** Folder of the project, which is created if it does not exist. */
  readonly folder: string;
  readonly template: TemplateName;
}

/** Result of {@link createProject}. */
export interface Project {
  /** Name of the package and of its view: a DNS label. */
  readonly name: string;
  /** Created files, relative to the folder. */
  readonly files: readonly string[];
  /** Oldest Node.js that runs the project, such as `24.11`: `engines` of its package.json. */
  readonly node: string;
}

/**
 * Writes the files of a project. The project's name is that of the folder, as a DNS label.
 *
 * @throws ProjectError if the folder has other files, which it never overwrites, or if its name has no letter or digit
 */
export function createProject({ folder, template }: ProjectOptions): Project {
  const path = resolve(folder);
  const name = nameOf(path);
  if (name === "")
    throw new ProjectError(`the name of the folder "${folder}" has no letter or digit: use one such as ${NAME}`);
  const there = entriesIn(path).filter((entry) => !HARMLESS.has(entry));
  if (there.length > 0)
    throw new ProjectError(`the folder "${folder}" is not empty (${listed(there)}): name a new one`);
  const files = [EVERY, template].flatMap((from) =>
    filesOf(from).map((file) => ({ from: join(folderOf(from), file), file })),
  );
  const written = files.flatMap(({ from, file }) => {
    const own = join(dirname(file), RENAMED[basename(file)] ?? basename(file));
    const to = join(path, own);
    if (existsSync(to)) return [];
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, contentOf(from, name));
    return [own];
  });
  const { engines } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
  return { name, files: written.sort(), node: engines.node.replace(">=", "") };
}

interface Manifest {
  readonly engines: { readonly node: string };
}

/** Returns the files of a template, relative to its folder. */
function filesOf(template: string): readonly string[] {
  const folder = folderOf(template);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function entriesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  try {
    return readdirSync(path);
  } catch (error) {
    throw new ProjectError(`${(error as Error).message}: name a folder`);
  }
}

function listed(entries: readonly string[]): string {
  const [first = "", second, ...more] = entries;
  return [first, second, more.length > 0 ? `and ${more.length} more` : undefined].filter(Boolean).join(", ");
}

/** Returns the name of a folder as a DNS label, as names of views must be. */
function nameOf(path: string): string {
  const label = basename(path)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  return label.slice(0, LONGEST).replace(/^-+|-+$/g, "");
}

/** Returns a file of a template with the project's name. A package.json gets the versions of the packages of this release. */
function contentOf(file: string, name: string): string {
  const text = readFileSync(file, "utf8").replaceAll(NAME, name);
  return basename(file) === "package.json" ? text.replaceAll('"workspace:*"', `"^${version()}"`) : text;
}

/** Version of this package, and of all packages of the same release. */
export function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
