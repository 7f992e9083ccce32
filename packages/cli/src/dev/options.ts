import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { STORE_FLAGS, type StoreChoice, storeChoice } from "../store/options.ts";
import { parse, UsageError } from "../usage.ts";

export interface DevOptions {
  /** Files and folders, absolute. */
  readonly paths: readonly string[];
  /** The state folder, absolute. */
  readonly dir: string;
  /** The port that is tried first, 0 for any free one. */
  readonly port: number;
  readonly quiet: boolean;
  readonly store: StoreChoice;
}

/** The port that is tried first unless another is named: beside Kubernetes' and kcp's own 6443. */
export const DEFAULT_PORT = 6444;
export const DEFAULT_DIR = ".virtual-workspaces";

/** @throws UsageError */
export function devOptions(args: readonly string[]): DevOptions {
  const { values, positionals } = parse(args, {
    port: { type: "string" },
    dir: { type: "string" },
    quiet: { type: "boolean" },
    ...STORE_FLAGS,
  });
  if (positionals.length === 0)
    throw new UsageError("name a module with a view, or a folder of them: virtual-workspaces dev ./view.ts");
  const missing = positionals.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`there is no file or folder ${missing} in ${process.cwd()}`);
  return {
    paths: positionals.map((path) => resolve(path)),
    dir: resolve(values.dir ?? DEFAULT_DIR),
    port: portOf(values.port),
    quiet: values.quiet ?? false,
    store: storeChoice(values, process.env),
  };
}

function portOf(text = String(DEFAULT_PORT)): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`--port ${text}: give a number from 1 to 65535, or 0 for any free port`);
  return port;
}
