import type { Log } from "@virtual-workspaces/framework/server";
import type {
  FeatureFlags,
  WorkspaceServerFeature,
  WorkspaceServerOptions,
} from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";
import { orFail, UsageError } from "../../process/failure.ts";
import { certificateOf, contentOf } from "../../process/files.ts";
import { gatesOf } from "../../server/gates.ts";
import { AUTHENTICATED } from "../../server/objects.ts";

type Plugin = typeof import("@virtual-workspaces/mounts");
type Others = NonNullable<Exclude<WorkspaceServerOptions["mounts"], false | undefined>["others"]>;

const FLAGS = {
  "mount-allow": {
    type: "list",
    value: "hosts",
    otherwise: "none",
    help: "Restricted hosts that mounts and space providers may use, with plain HTTP too. Restricted are names, addresses and networks of this machine, its links, and metadata services of clouds.",
  },
  "mount-ca-file": {
    type: "path",
    value: "file",
    otherwise: "those of Node.js",
    help: "Certificate authorities of servers that mount objects of foreign kinds name.",
  },
  "mount-proxy-client-cert-file": {
    type: "path",
    value: "file",
    help: "Client certificate for such servers; X-Remote-* then names the user.",
  },
  "mount-proxy-client-key-file": { type: "path", value: "file", help: "Key of --mount-proxy-client-cert-file." },
  "mount-caller-hosts": {
    type: "list",
    value: "hosts",
    otherwise: "none",
    help: "Hosts that may receive the caller's bearer token (Mounts with identity.type: Caller).",
  },
} as const satisfies FlagSet;
const NAMES = Object.keys(FLAGS) as (keyof typeof FLAGS)[];
const GATES = { "feature-gates": "list" } as const;

/** Workspaces that are mounted on objects of any kind, unless the feature gate WorkspaceMounts is off: their controller, and how other servers are asked. */
export const workspaceMounts: WorkspaceServerFeature<typeof FLAGS, typeof GATES> = {
  name: "workspace-mounts",
  heading: "Mounts",
  flags: FLAGS,
  uses: GATES,
  read(given) {
    if (!mayMount(given)) return undefined;
    const settings = settingsOf(given);
    return {
      begins: "after-ready",
      options: async () => ({ mounts: { others: await orFail(() => othersOf(settings)) } }),
      run: async ({ upstream, everywhere, log }) =>
        (await load()).workspaceMounts({ upstream, everywhere, onError: onErrorOf(log) }),
    };
  },
};

const OF_MOUNTS = { "mount-allow": "list", "mount-caller-hosts": "list" } as const;

/** The kind Mount, and the view of what Mounts lead to, within the rules of the flags of {@link workspaceMounts}. */
export const mounts: WorkspaceServerFeature<FlagSet, typeof OF_MOUNTS> = {
  name: "mounts",
  uses: OF_MOUNTS,
  read: ({ values: { "mount-allow": allow = [], "mount-caller-hosts": callerHosts = [] } }) => ({
    begins: "after-ready",
    listed: false,
    views: async ({ upstream, everywhere, shard, log }) => {
      const { mountsView } = await load();
      const onError = onErrorOf(log);
      return [await orFail(() => mountsView({ upstream, everywhere, shard, allow, callerHosts, onError }))];
    },
    manifests: async () => (await load()).mountManifests({ mayBind: [AUTHENTICATED] }),
  }),
};

/** Who mounts nothing starts without it. */
function load(): Promise<Plugin> {
  return import("@virtual-workspaces/mounts");
}

const onErrorOf =
  (log: Log) =>
  (error: unknown): void =>
    log({ level: "warn", message: "mounted workspaces are not kept right", error: String(error) });

/** How servers are asked to which objects of other kinds lead. */
interface MountSettings {
  /** What may be dialled although it is restricted. */
  readonly allow: readonly string[];
  /** Who certifies them, PEM. @default as Node trusts */
  readonly ca: string | undefined;
  /** By which certificate they know this server. @default they are not told who asks */
  readonly certificate: { readonly certFile: string; readonly keyFile: string } | undefined;
}

type Given = FeatureFlags<typeof FLAGS, typeof GATES>;

/** @throws UsageError where the gate is off, and something is said of mounts */
function mayMount({ values, batteries }: Given): boolean {
  if (gatesOf(values).mounts) return true;
  const [given] = NAMES.filter((name) => values[name] !== undefined);
  if (given !== undefined || batteries.has("mounts"))
    throw new UsageError(
      `${given === undefined ? "--batteries-included=+mounts" : `--${given}`}: workspaces may not be mounted with --feature-gates=WorkspaceMounts=false`,
    );
  return false;
}

/** @throws UsageError */
function settingsOf({ values, batteries }: Given): MountSettings {
  if ((values["mount-caller-hosts"] ?? []).length > 0 && !batteries.has("mounts"))
    throw new UsageError("--mount-caller-hosts needs Mounts: add --batteries-included=+mounts");
  const ca = values["mount-ca-file"];
  return {
    allow: values["mount-allow"] ?? [],
    ca: ca === undefined ? undefined : contentOf(ca, "mount-ca-file"),
    certificate: certificateOf(values, "mount-proxy-client-cert-file", "mount-proxy-client-key-file"),
  };
}

/** @throws Error on what may be dialled */
async function othersOf({ allow, ca, certificate }: MountSettings): Promise<Others> {
  const asked: Others =
    allow.length === 0
      ? { dial: async (...target) => (await load()).mountedServers().dial(...target) }
      : (await load()).mountedServers({ allow });
  return {
    ...asked,
    ...(ca !== undefined && { tls: { ca } }),
    ...(certificate && { credentials: (await import("@virtual-workspaces/client")).fileCredentials(certificate) }),
  };
}
