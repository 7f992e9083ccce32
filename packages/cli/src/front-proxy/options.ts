import { resolve } from "node:path";
import type { Audit, Authenticator, StrangerLimits } from "@virtual-workspaces/framework";
import { type GroupFilter, type Mapping, readMapping } from "@virtual-workspaces/front-proxy";
import { type Flags, readFlags } from "../flags/flags.ts";
import type { FlagName } from "../flags/names.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";
import { logOf, type StartLog } from "../process/log.ts";
import { auditOf } from "../server/audit.ts";
import { authenticationOf } from "../server/authentication.ts";
import { gatesOf } from "../server/gates.ts";
import { addressOf, strangersOf } from "../server/listening.ts";
import { issuerHosts } from "../server/logins.ts";
import { FRONT_PROXY } from "./flags.ts";

/** What `front-proxy` is told. Paths are absolute. */
export interface FrontProxyCommand extends StartLog {
  readonly mapping: readonly Mapping[];
  /** Whether objects in `root` say what is behind paths, too. */
  readonly pathMappings: boolean;
  /** Administrators, of `root` and of each shard. */
  readonly kubeconfigs: { readonly root: string; readonly shards: string };
  readonly authenticators: readonly Authenticator[];
  readonly groups: GroupFilter;
  /** At which restricted hosts types of workspaces may have issuers of tokens. None where they are not asked who logs in. */
  readonly issuerHosts: readonly string[] | undefined;
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly bindAddress: string;
  readonly port: number;
  /** ms */
  readonly closeDelay: number;
  readonly audit: Audit | undefined;
  /** What addresses may use up of authentication. None: as servers have it. */
  readonly strangers: StrangerLimits | undefined;
  /** For the log. */
  readonly warnings: readonly string[];
}

const DEFAULT_PORT = 443;
/** Of other servers; a kcp's front proxy refuses them too. */
const OTHERS: readonly FlagName[] = [
  "anonymous-auth",
  "view",
  "etcd-servers",
  "etcd-prefix",
  "etcd-cafile",
  "etcd-certfile",
  "etcd-keyfile",
  "etcd-credentials-file",
];

/** Reads the flags and the files that they name; changes nothing. @throws UsageError */
export function frontProxyOptions(args: readonly string[]): FrontProxyCommand {
  const flags = readFlags(args, FRONT_PROXY);
  const [other] = flags.given(OTHERS);
  if (other !== undefined)
    throw new UsageError(
      `--${other} is no flag of this server, which keeps nothing, has no views, and leaves strangers to the shards: leave it out`,
    );
  const logging = logOf(flags);
  const { audit, warning } = auditOf(flags);
  const passOn = flags.list("authentication-pass-on-groups");
  const drop = flags.list("authentication-drop-groups");
  const mapping = given(flags, "mapping-file");
  // Off, as in kcp.
  const gates = gatesOf(flags, { logins: false });
  return {
    ...logging,
    pathMappings: flags.on("path-mappings", false),
    mapping: checked("--mapping-file", () => readMapping(mapping)),
    kubeconfigs: { root: fileOf(flags, "root-kubeconfig"), shards: fileOf(flags, "shards-kubeconfig") },
    // Strangers are let through to the shards, which know best what they may do.
    authenticators: authenticationOf(flags, logging.log).authenticators.filter(({ name }) => name !== "anonymous"),
    issuerHosts: issuerHosts(flags, gates),
    groups: { ...(passOn.length > 0 && { passOn }), ...(drop.length > 0 && { drop }) },
    tls: { certFile: fileOf(flags, "tls-cert-file"), keyFile: fileOf(flags, "tls-private-key-file") },
    bindAddress: addressOf(flags),
    port: flags.count("secure-port", { fallback: DEFAULT_PORT, most: 65_535 }),
    closeDelay: flags.duration("shutdown-delay-duration"),
    audit,
    strangers: strangersOf(flags),
    warnings: [...flags.warnings, ...gates.warnings, ...(warning === undefined ? [] : [warning])],
  };
}

/** What can be read. */
function fileOf(flags: Flags, name: FlagName): string {
  const path = given(flags, name);
  contentOf(path, name);
  return path;
}

function given(flags: Flags, name: FlagName): string {
  const text = flags.text(name);
  if (text === undefined) throw new UsageError(`--${name} is missing: ${MISSING[name] ?? "name a file"}`);
  return resolve(text);
}

const MISSING: Partial<Record<FlagName, string>> = {
  "mapping-file": "name a file that says which servers are behind which paths",
  "root-kubeconfig": "name that of an administrator of the workspace root",
  "shards-kubeconfig": "name that of an administrator of all shards; its server does not count",
  "tls-cert-file": "name the certificate by which clients trust the server",
  "tls-private-key-file": "name the key of --tls-cert-file",
};
