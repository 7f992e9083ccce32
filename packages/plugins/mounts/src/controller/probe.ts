import type { NoTarget, ProxyTarget } from "@virtual-workspaces/kcp/targets";
import { isTransportError, type TransportErrorCode } from "@virtual-workspaces/transport";
import { RestrictedTarget } from "../dial/restricted-dial.ts";
import type { TargetContext } from "../targets/target-context.ts";
import { none } from "../types/no-target.ts";

/** Time limit for the version request, in ms. */
const HEAD = 10_000;
/** Maximum size of the response, in bytes. */
const LONGEST = 64 * 1024;

/** Security: the mount already contains the URL, but its authors must not learn the resolved address or what listens there. */
const SAID: Partial<Readonly<Record<TransportErrorCode, readonly [string, string]>>> = {
  connect: ["Unreachable", "cannot reach the target: check that it runs, and that this server can connect to it"],
  tls: [
    "Untrusted",
    "cannot verify the target's certificate: set ca.crt in the Secret, or certificate-authority-data in its kubeconfig",
  ],
  timeout: ["Unreachable", "the target did not answer in time: check that it runs"],
};

/**
 * Requests the version of a target with the mount's own credential, to check reachability, certificate and credential. Any response
 * of an API server counts, since its rules may forbid the version.
 *
 * @returns the problem; `undefined` without one
 * @throws the reason of the signal
 */
export async function probe(
  { upstream }: Pick<TargetContext, "upstream">,
  { identity }: Pick<ProxyTarget, "identity">,
  signal: AbortSignal,
): Promise<NoTarget | undefined> {
  try {
    const { status } = await upstream.send({ path: "/version", deadlines: { head: HEAD }, limit: LONGEST, signal });
    if (status >= 300 && status < 400)
      return none(
        "Connecting",
        "Redirects",
        "the target answers with a redirect, which is not followed: set the URL that it leads to",
      );
    if (status === 401 && identity !== "None" && identity !== "Caller")
      return none("Connecting", "CredentialRefused", "the target rejects the credential of the Secret: renew it");
    if (status >= 500)
      return none("Connecting", "Failing", `the target answers ${status} to the version request: check its API server`);
    return undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const restricted = causeOf(error);
    if (restricted !== undefined) return none("Unknown", "Restricted", restricted.message);
    const [reason, message] = (isTransportError(error) && SAID[error.code]) || FAILED;
    return none("Connecting", reason, message);
  }
}

const FAILED = ["Failing", "the target does not answer like a Kubernetes API server: check its URL"] as const;

function causeOf(error: unknown): RestrictedTarget | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof RestrictedTarget) return one;
  return undefined;
}
