import type { Audit } from "@virtual-workspaces/framework/audit";
import type { AuthenticationFailureLimits, Component } from "@virtual-workspaces/framework/server";
import { type GroupFilter, type Mapping, readMapping } from "@virtual-workspaces/front-proxy";
import { readFlags } from "../flags/read.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";
import { logOf, type StartLog } from "../process/log.ts";
import { auditOf } from "../server/audit.ts";
import { type Authentication, authenticationOf } from "../server/authentication.ts";
import { componentOf } from "../server/component.ts";
import { type ConsoleChoice, consoleChoice } from "../server/console.ts";
import { gatesOf } from "../server/gates.ts";
import { addressOf, authenticationFailuresOf, corsAllowedOriginsOf } from "../server/listening.ts";
import { issuerHosts } from "../server/logins.ts";
import { workersOf } from "../server/workers.ts";
import { FRONT_PROXY, type FrontProxyFlags } from "./flags.ts";

/** Options of `front-proxy`. Paths are absolute. */
export interface FrontProxyCommand extends StartLog {
  readonly mapping: readonly Mapping[];
  /** Whether PathMappings in `root` map paths as well. */
  readonly pathMappings: boolean;
  /** Kubeconfigs of administrators of `root` and of each shard. */
  readonly kubeconfigs: { readonly root: string; readonly shards: string };
  readonly authentication: Authentication;
  readonly groups: GroupFilter;
  /** Restricted hosts that may be issuers of workspace types. `undefined` if workspace types do not authenticate users. */
  readonly issuerHosts: readonly string[] | undefined;
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly bindAddress: string;
  readonly port: number;
  /** Processes that share the port. */
  readonly workers: number;
  /** @default no console */
  readonly console: ConsoleChoice | undefined;
  /** Delay of the shutdown, ms. */
  readonly closeDelay: number;
  readonly audit: Audit | undefined;
  /** Pages about the process. */
  readonly component: Omit<Component, "authorize">;
  /** Limits on authentication failures for each address. @default those of the server */
  readonly authenticationFailures: AuthenticationFailureLimits | undefined;
  /** Origins of browser pages that may use the server. */
  readonly corsAllowedOrigins: readonly string[];
  /** Warnings for the log. */
  readonly warnings: readonly string[];
}

/** Reads the flags and the files that they name, without side effects. @throws UsageError */
export function frontProxyOptions(args: readonly string[]): FrontProxyCommand {
  const { values: flags, warnings } = readFlags(args, FRONT_PROXY);
  const logging = logOf(flags);
  const { audit, warning } = auditOf(flags);
  const passOn = flags["authentication-pass-on-groups"] ?? [];
  const drop = flags["authentication-drop-groups"] ?? [];
  const mapping = given(flags, "mapping-file");
  // Off by default, as in kcp.
  const gates = gatesOf(flags, { logins: false });
  return {
    ...logging,
    pathMappings: flags["path-mappings"],
    mapping: checked("--mapping-file", () => readMapping(mapping)),
    kubeconfigs: { root: fileOf(flags, "root-kubeconfig"), shards: fileOf(flags, "shards-kubeconfig") },
    // Anonymous requests go to the shards, which authorize them.
    authentication: authenticationOf(flags, logging.log),
    issuerHosts: issuerHosts(flags, gates),
    groups: { ...(passOn.length > 0 && { passOn }), ...(drop.length > 0 && { drop }) },
    tls: { certFile: fileOf(flags, "tls-cert-file"), keyFile: fileOf(flags, "tls-private-key-file") },
    bindAddress: addressOf(flags),
    port: flags["secure-port"],
    workers: workersOf(flags),
    console: consoleChoice(flags),
    closeDelay: flags["shutdown-delay-duration"],
    audit,
    component: componentOf("virtual-workspaces-front-proxy", { flags: FRONT_PROXY.flags, values: flags }, gates),
    authenticationFailures: authenticationFailuresOf(flags),
    corsAllowedOrigins: corsAllowedOriginsOf(flags),
    warnings: [...warnings, ...gates.warnings, ...(warning === undefined ? [] : [warning])],
  };
}

/** Returns the path of a readable file. */
function fileOf(flags: FrontProxyFlags, name: keyof typeof MISSING): string {
  const path = given(flags, name);
  contentOf(path, name);
  return path;
}

function given(flags: FrontProxyFlags, name: keyof typeof MISSING): string {
  const text = flags[name];
  if (text === undefined) throw new UsageError(`--${name} is required: ${MISSING[name]}`);
  return text;
}

const MISSING = {
  "mapping-file": "set it to a file that maps paths to servers",
  "root-kubeconfig": "set it to the kubeconfig of an administrator of the workspace root",
  "shards-kubeconfig": "set it to the kubeconfig of an administrator of all shards; its server is ignored",
  "tls-cert-file": "set it to the server's certificate",
  "tls-private-key-file": "set it to the key of --tls-cert-file",
};
