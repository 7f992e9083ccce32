import { UsageError } from "../process/failure.ts";
import { contentOf } from "../process/files.ts";
import type { ForwardedTo, ShardIdentity } from "../server/upstreams.ts";
import { shardUrlOf } from "../server/urls.ts";
import { viewPaths } from "../views/view-files.ts";
import { shardNames } from "./endpoint.ts";
import type { StartFlags } from "./flags.ts";

/** Who serves what is below `/services`. */
export interface Services {
  /** Whether this server runs kcp's own views itself. */
  readonly own: boolean;
  /** Files of views that the server runs, absolute. */
  readonly views: readonly string[];
  /** Where those of a shard are else; throws a UsageError where nothing says it. @default nowhere: 404 */
  readonly forwarded: ((shard: string) => ForwardedTo) | undefined;
  /** The file that says what is behind other paths there. @default nothing */
  readonly mapping: string | undefined;
  /** By what other servers are asked whose views keep resources of exports. @default none is */
  readonly others: ShardIdentity | undefined;
  /** For the log. */
  readonly warnings: readonly string[];
}

const IDENTITY = ["shard-virtual-workspace-ca-file", "shard-client-cert-file", "shard-client-key-file"] as const;

/** @throws UsageError */
export function servicesOf(flags: StartFlags): Services {
  const views = viewPaths(flags.view ?? []);
  const mapping = flags["miniproxy-mapping-file"];
  const missing = IDENTITY.filter((name) => flags[name] === undefined);
  const others = identityOf(flags);
  if (flags["run-virtual-workspaces"])
    return { own: true, views, mapping, forwarded: undefined, others, warnings: needless(flags, missing) };
  if (views.length > 0)
    throw new UsageError(
      "--view and --run-virtual-workspaces=false: run the view here, or elsewhere with virtual-workspaces serve --view",
    );
  const url = shardUrlOf(flags, "shard-virtual-workspace-url");
  // As in kcp: a front proxy may know where they are.
  if (url === undefined || missing.length === IDENTITY.length) {
    const lacking: readonly string[] = [
      ...(url === undefined ? (["shard-virtual-workspace-url"] as const) : []),
      ...missing,
    ];
    const warning = `requests below /services are answered 404: to have them passed on give ${flagged(lacking)}`;
    return { own: false, views, mapping, forwarded: undefined, others, warnings: [warning] };
  }
  if (mapping !== undefined)
    throw new UsageError(
      "--miniproxy-mapping-file and --shard-virtual-workspace-url both say where what is below /services is: name one",
    );
  if (others === undefined)
    throw new UsageError(
      `--run-virtual-workspaces=false: ${flagged(IDENTITY)} go together, and ${flagged(missing)} is missing`,
    );
  // A server of views is over the shard of its kubeconfig: for the others it would answer about that one.
  for (const shard of shardNames(flags)) url.of(shard);
  const forwarded = (shard: string): ForwardedTo => ({ url: url.of(shard), ...others });
  return { own: false, views, mapping, forwarded, others, warnings: [] };
}

/** @returns `undefined` unless all of it is given @throws UsageError on what cannot be read */
function identityOf(flags: StartFlags): ShardIdentity | undefined {
  const [ca, certFile, keyFile] = IDENTITY.map((name) => flags[name]);
  if (ca === undefined || certFile === undefined || keyFile === undefined) return undefined;
  contentOf(certFile, "shard-client-cert-file");
  contentOf(keyFile, "shard-client-key-file");
  return { ca: contentOf(ca, IDENTITY[0]), certFile, keyFile };
}

/** A part says nothing: without an authority nobody else is asked, and without a certificate nobody would answer. */
function needless(flags: StartFlags, missing: readonly string[]): readonly string[] {
  const given = IDENTITY.filter((name) => flags[name] !== undefined);
  return given.length === 0 || missing.length === 0
    ? []
    : [`${flagged(given)} has no effect without ${flagged(missing)}: no view at another server is asked`];
}

function flagged(names: readonly string[]): string {
  return names.map((name) => `--${name}`).join(", ");
}
