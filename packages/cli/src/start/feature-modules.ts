import { existsSync } from "node:fs";
import module from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Flag, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import { hookModules } from "../views/load.ts";
import type { ListedFeature } from "./features.ts";

/**
 * Imports the modules of `--feature`, whose flags are unknown before. Security: their code runs with the rights of this
 * process.
 *
 * @throws UsageError when a module does not exist, Failure when it fails to load or exports no feature by default
 */
export async function featureModules(args: readonly string[]): Promise<readonly ListedFeature[]> {
  const names = namedIn(args);
  if (names.length > 0) hookModules(() => undefined);
  const features: ListedFeature[] = [];
  for (const name of names) {
    const found = await exportOf(name);
    const fault = faultOf(found);
    if (fault !== undefined) throw new Failure(`--feature ${name}: its default export ${fault}. ${REMEDY}`);
    features.push({ feature: found as WorkspaceServerFeature, module: name });
  }
  return features;
}

const REMEDY = "Write `export default defineFeature({ name, read })`, of @virtual-workspaces/workspace-server.";

/** Returns the values of `--feature` as the parser reads them: another flag is never a value. */
function namedIn(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  return flags
    .flatMap((arg, index) => {
      const [, inline] = /^--?feature(?:=(.*))?$/s.exec(arg) ?? [];
      const isFlag = /^--?feature(=|$)/.test(arg);
      const next = flags[index + 1] ?? "";
      if (!isFlag) return [];
      return inline ?? (/^--?[a-z]/.test(next) ? "" : next);
    })
    .flatMap((value) => value.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

async function exportOf(name: string): Promise<unknown> {
  const path = resolve(name);
  const isFile = existsSync(path);
  if (!isFile && /^(\.{0,2}[\\/]|[a-z]:[\\/])/i.test(name))
    throw new UsageError(`--feature ${name}: the file does not exist in ${process.cwd()}`);
  try {
    const loaded = isFile ? await import(pathToFileURL(path).href) : await importPackage(name);
    return (loaded as { readonly default?: unknown }).default;
  } catch (error) {
    if (!isFile && isMissing(error, name))
      throw new UsageError(
        `--feature ${name}: neither a file nor a package of this name exists in ${process.cwd()}: use a path, or install the package there`,
      );
    throw new Failure(`--feature ${name} cannot be loaded: ${problemOf(error)}`, { cause: error });
  }
}

/** Resolves a package as a module in the working directory would. */
async function importPackage(name: string): Promise<unknown> {
  const parentURL = pathToFileURL(join(process.cwd(), "feature.js")).href;
  const hooks = module.registerHooks({
    resolve: (specifier, context, nextResolve) =>
      nextResolve(specifier, specifier === name ? { ...context, parentURL } : context),
  });
  try {
    return await import(name);
  } finally {
    hooks.deregister();
  }
}

/** Returns false if the module exists, and an import in it fails. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  const [scope = "", rest = ""] = name.split("/");
  const root = name.startsWith("@") ? `${scope}/${rest}` : scope;
  return code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${root}'`);
}

const FLAG_TYPES: Readonly<Record<Flag["type"], true>> = {
  ...{ text: true, path: true, number: true, duration: true, switch: true, list: true, texts: true },
};

/** Checks properties instead of the class: the module may have its own copy of the workspace server. @returns the fault, if any */
function faultOf(found: unknown): string | undefined {
  if (typeof found !== "object" || found === null) return "is not a feature";
  const { name, read, flags = {} } = found as Partial<Record<keyof WorkspaceServerFeature, unknown>>;
  if (typeof name !== "string" || !/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    return "is not a feature: its name must be a DNS label that begins with a letter";
  if (typeof read !== "function") return `is not a feature: ${name} has no function read`;
  const wrong = Object.entries(flags as Record<string, Partial<Flag> | undefined>).find(
    ([, flag]) => !Object.hasOwn(FLAG_TYPES, flag?.type ?? "") || typeof flag?.help !== "string",
  );
  return (
    wrong &&
    `is not a feature: the flag ${wrong[0]} of ${name} needs a type, one of ${Object.keys(FLAG_TYPES).join(", ")}, and a help text`
  );
}
