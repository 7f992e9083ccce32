import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Console, ConsoleOptions } from "@virtual-workspaces/console";
import type { Log } from "@virtual-workspaces/framework/server";
import type { CONSOLE_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { contentOf, readIfThere, writePrivately } from "../process/files.ts";

const FLAG = "console-session-key-file";
const KEY_LENGTH = 32;

/** Choice of `--console` and `--console-session-key-file`. */
export interface ConsoleChoice {
  /** Key of the sessions. @default one in `rootDirectory`, generated; without that directory a random one */
  readonly key: Buffer | undefined;
}

/** Reads the flags and the file that they name, without side effects. @returns `undefined` without a console @throws UsageError */
export function consoleChoice(flags: Values<typeof CONSOLE_FLAGS>): ConsoleChoice | undefined {
  const file = flags[FLAG];
  if (!flags.console) return undefined;
  return { key: file === undefined ? undefined : keyIn(contentOf(file, FLAG), () => `--${FLAG} ${file}`) };
}

/** Creates the console of a server, and the key of its sessions if there is none yet. @throws Failure on an invalid key file */
export async function openConsole(
  { key }: ConsoleChoice,
  {
    rootDirectory,
    ...options
  }: { readonly rootDirectory?: string; readonly log: Log } & Pick<ConsoleOptions, "authentication">,
): Promise<Console> {
  const { createConsole } = await import("@virtual-workspaces/console");
  const own = key ?? (rootDirectory === undefined ? randomBytes(KEY_LENGTH) : keptKey(rootDirectory));
  return createConsole({ key: own, ...options });
}

function keptKey(rootDirectory: string): Buffer {
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
