import { UsageError } from "../process/failure.ts";
import { contentOf } from "../process/files.ts";
import type { Gates } from "../server/gates.ts";
import { MOUNT_FLAGS, type StartFlags } from "./flags.ts";

/** How workspaces may be mounted. */
export interface MountSettings {
  /** Whether there is the kind Mount, and the view of what Mounts lead to. */
  readonly kind: boolean;
  /** What may be dialled although it is restricted. */
  readonly allow: readonly string[];
  /** Who gets callers' own tokens. */
  readonly callerHosts: readonly string[];
  /** Who certifies what objects of other kinds lead to, PEM. @default as Node trusts */
  readonly ca: string | undefined;
  /** By which certificate that knows us. @default it is not told who asks */
  readonly certificate: { readonly certFile: string; readonly keyFile: string } | undefined;
}

const NAMES = Object.keys(MOUNT_FLAGS) as (keyof typeof MOUNT_FLAGS)[];

/** @returns `undefined` where workspaces may not be mounted @throws UsageError */
export function mountSettings(
  flags: StartFlags,
  gates: Gates,
  batteries: ReadonlySet<string>,
): MountSettings | undefined {
  const [given] = NAMES.filter((name) => flags[name] !== undefined);
  if (!gates.mounts) {
    if (given !== undefined || batteries.has("mounts"))
      throw new UsageError(
        `${given === undefined ? "--batteries-included=+mounts" : `--${given}`}: workspaces may not be mounted with --feature-gates=WorkspaceMounts=false`,
      );
    return undefined;
  }
  const ca = flags["mount-ca-file"];
  return {
    kind: batteries.has("mounts"),
    allow: flags["mount-allow"] ?? [],
    callerHosts: callersOf(flags, batteries),
    ca: ca === undefined ? undefined : contentOf(ca, "mount-ca-file"),
    certificate: certificateOf(flags),
  };
}

function callersOf(flags: StartFlags, batteries: ReadonlySet<string>): readonly string[] {
  const hosts = flags["mount-caller-hosts"] ?? [];
  if (hosts.length > 0 && !batteries.has("mounts"))
    throw new UsageError("--mount-caller-hosts is about Mounts: there are some with --batteries-included=+mounts");
  return hosts;
}

function certificateOf(flags: StartFlags): MountSettings["certificate"] {
  const certFile = flags["mount-proxy-client-cert-file"];
  const keyFile = flags["mount-proxy-client-key-file"];
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new UsageError("--mount-proxy-client-cert-file and --mount-proxy-client-key-file go together");
  contentOf(certFile, "mount-proxy-client-cert-file");
  contentOf(keyFile, "mount-proxy-client-key-file");
  return { certFile, keyFile };
}
