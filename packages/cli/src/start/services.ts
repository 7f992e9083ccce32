import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileCredentials } from "@virtual-workspaces/client";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { forwardedServices } from "@virtual-workspaces/workspace-server";
import { UsageError } from "../usage.ts";
import { contentOf, pathOf } from "./files.ts";
import type { Flags } from "./flags.ts";
import type { FlagName } from "./known-flags.ts";

/** Who serves what is below `/services`. */
export interface Services {
  /** Whether this server runs kcp's own views itself. */
  readonly own: boolean;
  /** Files of views that the server runs, absolute. */
  readonly views: readonly string[];
  /** Where they are else. @default nowhere: 404 */
  readonly forwarded: ForwardedTo | undefined;
  /** For the log. */
  readonly warnings: readonly string[];
}

/** A server of virtual workspaces, and by what it knows this one. Paths are absolute. */
export interface ForwardedTo {
  readonly url: string;
  readonly ca: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const IDENTITY = ["shard-virtual-workspace-ca-file", "shard-client-cert-file", "shard-client-key-file"] as const;

/** @throws UsageError */
export function servicesOf(flags: Flags): Services {
  const views = viewPaths(flags.list("view"));
  if (flags.on("run-virtual-workspaces", true))
    return { own: true, views, forwarded: undefined, warnings: needless(flags) };
  if (views.length > 0)
    throw new UsageError(
      "--view and --run-virtual-workspaces=false: run the view here, or elsewhere with virtual-workspaces serve --view",
    );
  const url = flags.text("shard-virtual-workspace-url")?.replace(/\/+$/, "");
  const [ca, certFile, keyFile] = IDENTITY.map((name) => pathOf(flags, name));
  const missing = IDENTITY.filter((name) => pathOf(flags, name) === undefined);
  // As in kcp: a front proxy may know where they are.
  if (url === undefined || missing.length === IDENTITY.length) {
    const lacking: readonly FlagName[] = [
      ...(url === undefined ? (["shard-virtual-workspace-url"] as const) : []),
      ...missing,
    ];
    const warning = `requests below /services are answered 404: to have them passed on give ${flagged(lacking)}`;
    return { own: false, views, forwarded: undefined, warnings: [warning] };
  }
  if (ca === undefined || certFile === undefined || keyFile === undefined)
    throw new UsageError(
      `--run-virtual-workspaces=false: ${flagged(IDENTITY)} go together, and ${flagged(missing)} is missing`,
    );
  contentOf(certFile, "shard-client-cert-file");
  contentOf(keyFile, "shard-client-key-file");
  return { own: false, views, forwarded: { url, ca: contentOf(ca, IDENTITY[0]), certFile, keyFile }, warnings: [] };
}

/** Absolute paths of what is there. @throws UsageError */
export function viewPaths(paths: readonly string[]): readonly string[] {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`--view ${missing}: there is no such file in ${process.cwd()}`);
  return paths.map((path) => resolve(path));
}

/** What only says anything when views are elsewhere; kcp uses it for more. */
function needless(flags: Flags): readonly string[] {
  const given = flags.given(IDENTITY);
  return given.length === 0
    ? []
    : [`${flagged(given)} has no effect: this server runs its virtual workspaces itself (--run-virtual-workspaces)`];
}

function flagged(names: readonly FlagName[]): string {
  return names.map((name) => `--${name}`).join(", ");
}

/** The view that passes everything on. Certificate and key are read again when they change. @throws Error on an authority that is none */
export function forwardedView(
  { url, ca, certFile, keyFile }: ForwardedTo,
  onError: (error: unknown) => void,
): VirtualWorkspace {
  return forwardedServices({
    upstream: { url, tls: { ca }, credentials: fileCredentials({ certFile, keyFile }) },
    onError,
  });
}
