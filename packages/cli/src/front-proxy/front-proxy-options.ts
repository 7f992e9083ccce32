import type { Authenticator } from "@virtual-workspaces/framework";
import type { Audit } from "@virtual-workspaces/framework/audit";
import type { AuthenticationFailureLimits } from "@virtual-workspaces/framework/server";
import { type GroupFilter, type Mapping, readMapping } from "@virtual-workspaces/front-proxy";
import { readFlags } from "../flags/read.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";
import { logOf, type StartLog } from "../process/log.ts";
import { auditOf } from "../server/audit.ts";
import { authenticationOf } from "../server/authentication.ts";
import { gatesOf } from "../server/gates.ts";
import { addressOf, authenticationFailuresOf } from "../server/listening.ts";
import { issuerHosts } from "../server/logins.ts";
import { FRONT_PROXY, type FrontProxyFlags } from "./flags.ts";

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
  readonly authenticationFailures: AuthenticationFailureLimits | undefined;
  /** For the log. */
  readonly warnings: readonly string[];
}

/** Reads the flags and the files that they name; changes nothing. @throws UsageError */
export function frontProxyOptions(args: readonly string[]): FrontProxyCommand {
  const { values: flags, warnings } = readFlags(args, FRONT_PROXY);
  const logging = logOf(flags);
  const { audit, warning } = auditOf(flags);
  const passOn = flags["authentication-pass-on-groups"] ?? [];
  const drop = flags["authentication-drop-groups"] ?? [];
  const mapping = given(flags, "mapping-file");
  // Off, as in kcp.
  const gates = gatesOf(flags, { logins: false });
  return {
    ...logging,
    pathMappings: flags["path-mappings"],
    mapping: checked("--mapping-file", () => readMapping(mapping)),
    kubeconfigs: { root: fileOf(flags, "root-kubeconfig"), shards: fileOf(flags, "shards-kubeconfig") },
    // Strangers are let through to the shards, which know best what they may do.
    authenticators: authenticationOf(flags, logging.log).authenticators.filter(({ name }) => name !== "anonymous"),
    issuerHosts: issuerHosts(flags, gates),
    groups: { ...(passOn.length > 0 && { passOn }), ...(drop.length > 0 && { drop }) },
    tls: { certFile: fileOf(flags, "tls-cert-file"), keyFile: fileOf(flags, "tls-private-key-file") },
    bindAddress: addressOf(flags),
    port: flags["secure-port"],
    closeDelay: flags["shutdown-delay-duration"],
    audit,
    authenticationFailures: authenticationFailuresOf(flags),
    warnings: [...warnings, ...gates.warnings, ...(warning === undefined ? [] : [warning])],
  };
}

/** What can be read. */
function fileOf(flags: FrontProxyFlags, name: keyof typeof MISSING): string {
  const path = given(flags, name);
  contentOf(path, name);
  return path;
}

function given(flags: FrontProxyFlags, name: keyof typeof MISSING): string {
  const text = flags[name];
  if (text === undefined) throw new UsageError(`--${name} is missing: ${MISSING[name]}`);
  return text;
}

const MISSING = {
  "mapping-file": "name a file that says which servers are behind which paths",
  "root-kubeconfig": "name that of an administrator of the workspace root",
  "shards-kubeconfig": "name that of an administrator of all shards; its server does not count",
  "tls-cert-file": "name the certificate by which clients trust the server",
  "tls-private-key-file": "name the key of --tls-cert-file",
};
