import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Console, ConsoleOptions, OidcClient } from "@virtual-workspaces/console";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Panel } from "@virtual-workspaces/framework/panel";
import { type Log, templateOf } from "@virtual-workspaces/framework/server";
import type { CONSOLE_FLAGS, CONSOLE_OIDC_FLAGS, TOKEN_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { Failure, problemOf, UsageError } from "../process/failure.ts";
import { contentOf, readIfThere, writePrivately } from "../process/files.ts";
import { hookModules } from "../views/load.ts";

const FLAG = "console-session-key-file";
const KEY_LENGTH = 32;

/** Choice of `--console` and the flags about it. */
export interface ConsoleChoice {
  /** Key of the sessions. @default one in `rootDirectory`, generated; without that directory a random one */
  readonly key: Buffer | undefined;
  /** Issuers at which users sign in. */
  readonly oidc: readonly OidcClient[];
  /** Paths of modules with panels. */
  readonly panels: readonly string[];
}

type ConsoleFlags = Values<typeof CONSOLE_FLAGS> &
  Values<typeof CONSOLE_OIDC_FLAGS> &
  Pick<Values<typeof TOKEN_FLAGS>, "oidc-issuer-url" | "oidc-ca-file">;

/** Reads the flags and the files that they name, without side effects. @returns `undefined` without a console @throws UsageError */
export function consoleChoice(flags: ConsoleFlags): ConsoleChoice | undefined {
  const file = flags[FLAG];
  if (!flags.console) return undefined;
  const key = file === undefined ? undefined : keyIn(contentOf(file, FLAG), () => `--${FLAG} ${file}`);
  return { key, oidc: clientsOf(flags), panels: panelModules(flags["console-panel"]) };
}

const OF_CLIENT = ["console-oidc-issuer-url", "console-oidc-client-secret-file", "console-oidc-scopes"] as const;

/** @throws UsageError */
function clientsOf(flags: ConsoleFlags): readonly OidcClient[] {
  const clientId = flags["console-oidc-client-id"];
  const needless = OF_CLIENT.find((name) => flags[name] !== undefined);
  if (clientId === undefined && needless !== undefined)
    throw new UsageError(`--${needless} needs --console-oidc-client-id: set it to the ID of the client`);
  if (clientId === undefined) return [];
  const issuer = flags["console-oidc-issuer-url"] ?? flags["oidc-issuer-url"];
  if (issuer === undefined || !/^https:\/\//.test(issuer) || !URL.canParse(issuer))
    throw new UsageError(
      "--console-oidc-client-id needs an issuer: set --console-oidc-issuer-url or --oidc-issuer-url to an https URL",
    );
  const secretFile = flags["console-oidc-client-secret-file"];
  const caFile = flags["oidc-ca-file"];
  const scopes = flags["console-oidc-scopes"];
  return [
    {
      ...{ issuer, clientId },
      ...(secretFile !== undefined && {
        clientSecret: contentOf(secretFile, "console-oidc-client-secret-file").trim(),
      }),
      ...(caFile !== undefined && { ca: contentOf(caFile, "oidc-ca-file") }),
      ...(scopes !== undefined && { scopes }),
    },
  ];
}

/** Creates the console of a server, and the key of its sessions if there is none yet. @throws Failure on an invalid key file */
export async function openConsole(
  { key, oidc, panels: modules }: ConsoleChoice,
  {
    rootDirectory,
    panels = [],
    ...options
  }: { readonly rootDirectory?: string; readonly log: Log } & Pick<
    ConsoleOptions,
    "authentication" | "memory" | "panels"
  >,
): Promise<Console> {
  const { createConsole } = await import("@virtual-workspaces/console");
  const own = key ?? (rootDirectory === undefined ? randomBytes(KEY_LENGTH) : keptKey(rootDirectory));
  return createConsole({ key: own, oidc, panels: [...panels, ...(await importPanels(modules))], ...options });
}

/** Returns the choice with a key, for processes with one console: a random one, if it has none. */
export function withKey(choice: ConsoleChoice): ConsoleChoice & { readonly key: Buffer } {
  return { ...choice, key: choice.key ?? randomBytes(KEY_LENGTH) };
}

/** Returns the key of the sessions in a directory, and generates it if there is none. @throws Failure on an invalid key file */
export function keptKey(rootDirectory: string): Buffer {
  const path = join(rootDirectory, `.${FLAG.replace(/-file$/, "")}`);
  const kept = readIfThere(path);
  if (kept !== undefined) {
    try {
      return keyIn(kept, () => path);
    } catch (error) {
      throw new Failure(`${(error as Error).message}, or remove it: all sessions of the console then end`, {
        cause: error,
      });
    }
  }
  const key = randomBytes(KEY_LENGTH);
  writePrivately(path, `${key.toString("base64")}\n`);
  return key;
}

/** @throws UsageError */
function keyIn(text: string, where: () => string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === KEY_LENGTH) return key;
  throw new UsageError(
    `invalid key in ${where()}: write ${KEY_LENGTH} random bytes as base64, as \`openssl rand -base64 ${KEY_LENGTH}\` does`,
  );
}

const PANEL_FLAG = "console-panel";
const NO_PANEL_REMEDY =
  "Export a panel by default, { name, title, for, module }, a list of panels, or a view with panels.";

/** Returns the paths of the modules that `--console-panel` names. @throws UsageError when a file does not exist */
function panelModules(names: readonly string[] = []): readonly string[] {
  return names.map((name) => {
    const path = resolve(name);
    if (!existsSync(path))
      throw new UsageError(`--${PANEL_FLAG} ${name}: the file does not exist in ${process.cwd()}: correct the path`);
    return path;
  });
}

/**
 * Imports the modules of `--console-panel`. Security: their code runs with the rights of this process, and that of their panels with the
 * rights of each user who opens them.
 *
 * @throws Failure that names the module
 */
async function importPanels(paths: readonly string[]): Promise<readonly Panel[]> {
  if (paths.length > 0) hookModules(() => undefined);
  const panels = await Promise.all(
    paths.map(async (path) => {
      try {
        const { default: found } = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
        return [found].flat().flatMap(panelsOf);
      } catch (error) {
        throw new Failure(`--${PANEL_FLAG} ${path}: ${problemOf(error)}`, { cause: error });
      }
    }),
  );
  return panels.flat();
}

/** Returns the panels of a view, or the panel itself. */
function panelsOf(value: unknown): readonly Panel[] {
  const { name, panels, module } = (value ?? {}) as Partial<VirtualWorkspace & Panel>;
  if (module !== undefined) return [value as Panel];
  if (name === undefined || panels === undefined || panels.length === 0)
    throw new Failure(`its default export has no panel. ${NO_PANEL_REMEDY}`);
  // Another server may serve the view.
  const path = templateOf(value as VirtualWorkspace);
  return panels.map((panel) => (panel.for === undefined ? { ...panel, path, for: { virtualWorkspace: name } } : panel));
}
