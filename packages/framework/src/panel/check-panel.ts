import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Panel } from "./panel.ts";

const MEMBERS: ReadonlySet<string> = new Set([
  "name",
  "title",
  "for",
  "path",
  "module",
  "files",
  "tree",
] satisfies (keyof Panel)[]);

/**
 * Checks a panel, but not whether its files exist.
 *
 * @param where what has the panel, for the message
 * @throws Error that names the field and the remedy
 */
export function checkPanel(panel: Panel, where: string): void {
  const { name, title, module, files = [], tree } = panel;
  if (typeof name !== "string" || !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    const what = `invalid name ${JSON.stringify(name)} of a panel of ${where}`;
    throw new Error(`${what}: use at most 63 lower-case letters, digits and dashes`);
  }
  const strange = Object.keys(panel).find((member) => !MEMBERS.has(member));
  if (strange !== undefined) {
    const what = `unknown member ${JSON.stringify(strange)} of panel "${name}" of ${where}`;
    throw new Error(`${what}: use ${[...MEMBERS].join(", ")}`);
  }
  const own = (field: string): string => `${field} of panel "${name}"`;
  const fault = (field: string, value: unknown, remedy: string): Error =>
    new Error(`invalid ${own(field)} of ${where}: ${JSON.stringify(value)}: ${remedy}`);
  if (typeof title !== "string" || title.trim() === "") throw fault("title", title, "write what the tab says");
  // Security: the page runs modules of its own origin only, which are files of the server.
  if (!(module instanceof URL) || module.protocol !== "file:")
    throw fault("module", String(module), 'use a file, as in new URL("./panel.js", import.meta.url)');
  if (!/\.(m?js|m?ts)$/.test(module.pathname))
    throw fault("module", module.href, "use an ES module: a file .js, .mjs, .ts or .mts");
  // Security: nothing outside of the folder of the module.
  const outside = files.find((file) => !/^(?!.*(^|\/)\.)[\w.-]+(\/[\w.-]+)*$/.test(file));
  if (outside !== undefined)
    throw fault("files", outside, 'use paths below the folder of the module, as in "chart.js" or "parts/chart.js"');
  const subject = panel.for;
  if (subject !== undefined && !isSubject(subject))
    throw fault("for", subject, "set group and resource, or virtualWorkspace");
  if (subject !== undefined && "group" in subject && subject.group === "core")
    throw fault("for", subject, 'the core group is ""');
  if (panel.path !== undefined && !/^\/[^?#]*$/.test(panel.path))
    throw fault("path", panel.path, "use a path of a server, as in /services/quotes/clusters/{cluster}");
  if (tree === undefined) return;
  if (subject === undefined || !("resource" in subject))
    throw fault("tree", tree, "set group and resource in for, or leave tree out");
  if (!/^v[0-9a-z]+$/.test(tree.version)) throw fault("tree", tree, "set version to a version of the API, such as v1");
  if (tree.phase !== undefined && !/^(\.[\w-]+)+$/.test(tree.phase))
    throw fault("tree", tree, "set phase to a path of a field, such as .status.phase");
}

function isSubject(subject: Partial<Record<"group" | "resource" | "virtualWorkspace", unknown>>): boolean {
  if (subject.virtualWorkspace !== undefined)
    return typeof subject.virtualWorkspace === "string" && subject.resource === undefined;
  return typeof subject.group === "string" && typeof subject.resource === "string" && subject.resource !== "";
}

/** Files of a panel, the module first. */
export function panelFiles({ module, files = [] }: Panel): readonly URL[] {
  return [module, ...files.map((file) => new URL(file, module))];
}

/**
 * Checks the panels of a server together, and that their files exist.
 *
 * @throws Error that names the panel, the field and the remedy
 */
export function checkPanels(panels: readonly Panel[]): void {
  const names = new Set<string>();
  for (const panel of panels) {
    const { name } = panel;
    if (names.has(name))
      throw new Error(`duplicate name "${name}" of panels: give each panel of a server its own name`);
    names.add(name);
    panelFiles(panel).forEach((file, at) => {
      const path = fileURLToPath(file);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return;
      throw new Error(
        `invalid ${at === 0 ? "module" : "files"} of panel "${name}": there is no file ${path}: correct the path`,
      );
    });
  }
}
