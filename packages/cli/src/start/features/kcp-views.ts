import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import type {
  FeatureFlags,
  FeatureParts,
  FeatureServerOptions,
  WorkspaceServerFeature,
} from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";
import { orFail, UsageError } from "../../process/failure.ts";
import { contentOf } from "../../process/files.ts";
import { gatesOf } from "../../server/gates.ts";
import type { ForwardedTo, ShardIdentity } from "../../server/upstreams.ts";
import { shardNames, shardUrlOf } from "../../server/urls.ts";

const FLAGS = {
  "run-virtual-workspaces": {
    type: "switch",
    default: true,
    help: "Run the virtual workspaces in this process. Otherwise requests below /services are forwarded to --shard-virtual-workspace-url.",
  },
  "shard-virtual-workspace-ca-file": {
    type: "path",
    value: "file",
    help: "Certificate authorities of the servers of virtual workspaces.",
  },
  "shard-client-cert-file": {
    type: "path",
    value: "file",
    help: "Client certificate for servers of virtual workspaces. Its user needs impersonation rights.",
  },
  "shard-client-key-file": { type: "path", value: "file", help: "Key of --shard-client-cert-file." },
} as const satisfies FlagSet;
const USES = {
  "shard-virtual-workspace-url": "text",
  shards: "number",
  "miniproxy-mapping-file": "path",
  "feature-gates": "list",
} as const;
const IDENTITY = ["shard-virtual-workspace-ca-file", "shard-client-cert-file", "shard-client-key-file"] as const;

type Given = FeatureFlags<typeof FLAGS, typeof USES>;

/** kcp's own views, in this process or forwarded to another server, and the credentials for views of other servers. */
export const kcpViews: WorkspaceServerFeature<typeof FLAGS, typeof USES> = {
  name: "kcp-views",
  heading: "Views",
  flags: FLAGS,
  uses: USES,
  read(given) {
    const others = identityOf(given.values);
    const parts: FeatureParts = { listed: false, options: () => optionsOf(others) };
    if (given.values["run-virtual-workspaces"]) {
      warnOfNeedless(given);
      const { cachedResources } = gatesOf(given.values);
      const views: FeatureParts["views"] = async ({ upstream, everywhere, identity, log }) =>
        (await import("../../views/kcp-views.ts")).kcpViews({ upstream, everywhere, identity, cachedResources }, log);
      return { ...parts, views };
    }
    const forwarded = forwardedOf(given, others);
    if (forwarded === undefined) return parts;
    return { ...parts, views: async ({ shard, log }) => [await forwardedView(forwarded(shard), log)] };
  },
};

/** @param others credentials for servers whose views store resources of exports; `undefined`: no such servers */
async function optionsOf(others: ShardIdentity | undefined): Promise<FeatureServerOptions> {
  if (others === undefined) return { virtualStorage: {} };
  const { asShard } = await import("../../server/upstreams.ts");
  return { virtualStorage: { others: asShard(others) } };
}

/** Returns the upstream for the views of a shard, if the flags name one. @throws UsageError */
function forwardedOf(
  { values, warn }: Given,
  others: ShardIdentity | undefined,
): ((shard: string) => ForwardedTo) | undefined {
  const missing = missingOf(values);
  const url = shardUrlOf(values, "shard-virtual-workspace-url");
  // As in kcp: a front proxy may serve the views.
  if (url === undefined || missing.length === IDENTITY.length) {
    const lacking: readonly string[] = [
      ...(url === undefined ? (["shard-virtual-workspace-url"] as const) : []),
      ...missing,
    ];
    warn(`requests below /services are answered 404: to forward them, set ${flagged(lacking)}`);
    return undefined;
  }
  if (values["miniproxy-mapping-file"] !== undefined)
    throw new UsageError(
      "--miniproxy-mapping-file and --shard-virtual-workspace-url both map paths below /services: use only one",
    );
  if (others === undefined)
    throw new UsageError(
      `--run-virtual-workspaces=false: ${flagged(IDENTITY)} must be set together, and ${flagged(missing)} is missing`,
    );
  // Rejects one URL for several shards: a server of views serves only the shard of its kubeconfig.
  for (const shard of shardNames(values)) url.of(shard);
  return (shard) => ({ url: url.of(shard), ...others });
}

/** Returns the view that forwards all requests. @throws Failure on an invalid certificate authority */
async function forwardedView(to: ForwardedTo, log: Log): Promise<VirtualWorkspace> {
  const [{ forwardedServices }, { upstreamAt }] = await Promise.all([
    import("@virtual-workspaces/workspace-server"),
    import("../../server/upstreams.ts"),
  ]);
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "cannot reach the server of virtual workspaces", error: String(error) });
  return orFail(() => forwardedServices({ upstream: upstreamAt(to), onError }));
}

/** Reads the credentials. @returns `undefined` if one is missing @throws UsageError when a file cannot be read */
function identityOf(values: Given["values"]): ShardIdentity | undefined {
  const [ca, certFile, keyFile] = IDENTITY.map((name) => values[name]);
  if (ca === undefined || certFile === undefined || keyFile === undefined) return undefined;
  contentOf(certFile, "shard-client-cert-file");
  contentOf(keyFile, "shard-client-key-file");
  return { ca: contentOf(ca, IDENTITY[0]), certFile, keyFile };
}

/** Warns of incomplete credentials: without an authority no server is trusted, and without a certificate none accepts requests. */
function warnOfNeedless({ values, warn }: Given): void {
  const missing = missingOf(values);
  const given = IDENTITY.filter((name) => values[name] !== undefined);
  if (given.length > 0 && missing.length > 0)
    warn(`${flagged(given)} has no effect without ${flagged(missing)}: views of other servers are not used`);
}

function missingOf(values: Given["values"]): readonly string[] {
  return IDENTITY.filter((name) => values[name] === undefined);
}

function flagged(names: readonly string[]): string {
  return names.map((name) => `--${name}`).join(", ");
}
