import { parentPath } from "@virtual-workspaces/apimachinery";
import { ANONYMOUS } from "@virtual-workspaces/framework/authn";
import type { ExaminedServer } from "./examined-server.ts";
import { StepFailure } from "./steps.ts";

// Views may run in a process of their own, behind a shard or a front proxy that names the caller. The answer never says why
// that process ignores the name: the flags to check are the same for all reasons.

const REASON = 'the reason is in its log as "identity ignored"';

/** Remedy where a shard sends the caller in `Impersonate-*`. */
const BEHIND_SHARD = `at the server of this view, --client-ca-file must hold the authority of the certificate that the server in front shows (--shard-client-cert-file, of system:masters); ${REASON}`;

/** Remedy where it is unknown which server is in front. */
const BEHIND = `at the server of this view, --requestheader-client-ca-file must hold the authority of the front proxy's certificate, and --requestheader-allowed-names its common name; behind a shard, --client-ca-file that of --shard-client-cert-file; ${REASON}`;

/** Remedy where a server sees no credentials. */
const UNSEEN = `the server sees no credentials: use some, and for a client certificate give its authority to --client-ca-file of this server; ${REASON}`;

/** Remedy for `--as` of a user whom the server in front does not forward with it. */
const AS = "for views in another process only members of system:masters may use --as: use the credentials of that user";

/** Returns whether the URL is of a view, which another process may serve. */
export function isView({ path }: ExaminedServer): boolean {
  return path.startsWith("/services/");
}

/** Fails unless the view sees the user whom the server in front has authenticated. */
export function checkSameUser(seen: string, inFront: string): void {
  if (seen !== inFront)
    throw new StepFailure(
      `the server of this view sees ${seen}, and the server in front has authenticated ${inFront}`,
      BEHIND,
    );
}

/** Returns the failure of a view that rejects whom the server in front has authenticated. */
export function notForwarded(inFront: string): StepFailure {
  return new StepFailure(
    `the server of this view answers 401 to the server in front, which has authenticated ${inFront}`,
    BEHIND,
  );
}

/** Returns the failure of a request for a view that is about the forwarded identity; `undefined` if it is about rights. */
export function forwardedFailure(
  { user, impersonates }: ExaminedServer,
  { code, message }: Answer,
): StepFailure | undefined {
  const what = `${code}: ${message}`;
  if (impersonates && message.includes("impersonation is not allowed")) return new StepFailure(what, AS);
  if (/impersonation is not allowed|cannot impersonate[ -]|server of virtual workspaces rejected/.test(message))
    return new StepFailure(what, BEHIND_SHARD);
  if (/server behind \/\S* rejected/.test(message)) return new StepFailure(what, BEHIND); // a front proxy
  const [, seen] = /User "([^"]*)" cannot/.exec(message) ?? [];
  if (seen === ANONYMOUS && user === "") return new StepFailure(what, UNSEEN);
  return user === "" || seen === undefined || seen === user ? undefined : new StepFailure(what, BEHIND);
}

interface Answer {
  readonly code: number;
  readonly message: string;
}

/** Returns the failure of a URL with a workspace path, where a view takes names of logical clusters only. */
export function pathFailure({ path }: ExaminedServer, { code, message }: Answer): StepFailure | undefined {
  const [, workspace] = /^\/services\/.*\/clusters\/([^/]+)$/.exec(path.replaceAll(/%3a/gi, ":")) ?? [];
  const parent = workspace === undefined ? undefined : parentPath(workspace);
  if (workspace === undefined || parent === undefined || ![400, 403, 404].includes(code)) return undefined;
  return new StepFailure(
    `${code}: ${message}`,
    `use the name of the logical cluster in the URL: in ${parent}, kubectl get workspace ${workspace.slice(parent.length + 1)} -o jsonpath={.spec.cluster}`,
  );
}
