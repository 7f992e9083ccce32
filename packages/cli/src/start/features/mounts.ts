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
    help: "Hosts that mounts and space providers may use although they are restricted, also with plain HTTP. Restricted hosts are this machine (by any name or address), link-local addresses, and metadata services of clouds; private addresses of other machines are not.",
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

/** Workspaces mounted on objects of any kind, unless the feature gate WorkspaceMounts is off: controller, and target options. */
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
        (await load()).workspaceMounts({
          upstream,
          everywhere,
          onError: onErrorOf(log, "cannot reconcile mounted workspaces"),
        }),
    };
  },
};

const OF_MOUNTS = { "mount-allow": "list", "mount-caller-hosts": "list" } as const;

/** The kind Mount, and the view of the targets of Mounts, within the limits of the flags of {@link workspaceMounts}. */
export const mounts: WorkspaceServerFeature<FlagSet, typeof OF_MOUNTS> = {
  name: "mounts",
  uses: OF_MOUNTS,
  read: ({ values: { "mount-allow": allow = [], "mount-caller-hosts": callerHosts = [] } }) => ({
    begins: "after-ready",
    listed: false,
    views: async ({ upstream, everywhere, shard, log }) => {
      const { mountsView } = await load();
      const onError = onErrorOf(log, "error of the mounts");
      return [await orFail(() => mountsView({ upstream, everywhere, shard, allow, callerHosts, onError }))];
    },
    manifests: async () => (await load()).mountManifests({ mayBind: [AUTHENTICATED] }),
  }),
};

/** Imported only with mounts, so that other starts are faster. */
function load(): Promise<Plugin> {
  return import("@virtual-workspaces/mounts");
}

const onErrorOf =
  (log: Log, message: string) =>
  (error: unknown): void =>
    log({ level: "warn", message, error: String(error) });

/** Options for the targets of mount objects of other kinds. */
interface MountSettings {
  /** Restricted hosts that may be dialed. */
  readonly allow: readonly string[];
  /** Certificate authorities of the targets, PEM. @default those that Node.js trusts */
  readonly ca: string | undefined;
  /** Client certificate for the targets. @default none: targets do not learn the user */
  readonly certificate: { readonly certFile: string; readonly keyFile: string } | undefined;
}

type Given = FeatureFlags<typeof FLAGS, typeof GATES>;

/** Returns whether mounts are on. @throws UsageError when the gate is off and a flag needs it */
function mayMount({ values, batteries }: Given): boolean {
  if (gatesOf(values).mounts) return true;
  const [given] = NAMES.filter((name) => values[name] !== undefined);
  if (given !== undefined || batteries.has("mounts"))
    throw new UsageError(
      `${given === undefined ? "--batteries-included=+mounts" : `--${given}`} does not work with --feature-gates=WorkspaceMounts=false: remove one of them`,
    );
  return false;
}

/** Reads the flags. @throws UsageError */
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

/** Returns the options for target servers. @throws Error on invalid hosts */
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
